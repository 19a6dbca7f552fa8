/** The data folder of a local run: secrets that are made once and kept, readable by their owner only. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const secrets = z.object({ ENCRYPTION_KEYS: z.string(), OPS_TOKEN: z.string() });

const demo = z.object({
  email: z.string(),
  password: z.string(),
  apiKey: z.string().optional(),
  link: z.string().optional(),
});

/** What is known of the demo organization; what is absent has not been made yet. */
export type Demo = z.infer<typeof demo>;

/** A data folder. */
export interface DataFolder {
  /** The secrets that settings name. */
  secrets: z.infer<typeof secrets>;
  demo: Demo;
  /** Writes down what is known of the demo organization now. */
  saveDemo(demo: Demo): Promise<void>;
}

/** Opens a data folder, making what is missing. */
export async function openDataFolder(dataDir: string): Promise<DataFolder> {
  await mkdir(dataDir, { recursive: true });
  const secretsFile = join(dataDir, 'secrets.json');
  const demoFile = join(dataDir, 'demo.json');
  return {
    secrets: await readOrCreate(secretsFile, secrets, () => ({
      ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
      OPS_TOKEN: randomBytes(32).toString('base64url'),
    })),
    demo: await readOrCreate(demoFile, demo, () => ({
      email: 'admin@demo.example',
      password: randomBytes(18).toString('base64url'),
    })),
    saveDemo: (known) => writeAtomically(demoFile, known),
  };
}

async function readOrCreate<T>(file: string, shape: z.ZodType<T>, make: () => T): Promise<T> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text !== undefined) return shape.parse(JSON.parse(text));
  const made = make();
  await writeAtomically(file, made);
  return made;
}

/** Written beside and renamed, so that a crash leaves the old file or the new one. */
async function writeAtomically(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
