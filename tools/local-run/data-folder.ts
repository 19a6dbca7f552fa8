/** The data folder of a local run. It stores generated secrets in files that only their owner can read. */
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

/** The demo organization: its login, and its API key and public link once they were created. */
export type Demo = z.infer<typeof demo>;

/** A data folder. */
export interface DataFolder {
  /** Generated values of secret settings. */
  secrets: z.infer<typeof secrets>;
  demo: Demo;
  /** Saves the state of the demo organization. */
  saveDemo(demo: Demo): Promise<void>;
}

/** Opens a data folder. Creates the folder and its files if they are missing. */
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
    saveDemo: (value) => writeAtomically(demoFile, value),
  };
}

async function readOrCreate<T>(file: string, schema: z.ZodType<T>, create: () => T): Promise<T> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    // an existing file that cannot be read must not be replaced
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (text !== undefined) return schema.parse(JSON.parse(text));
  const created = create();
  await writeAtomically(file, created);
  return created;
}

/** Writes a temporary file and renames it, so that a crash leaves either the old or the new file. */
async function writeAtomically(file: string, value: unknown): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
}
