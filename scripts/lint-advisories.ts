/**
 * Checks the packages of the lock file for known vulnerabilities with `npm audit`. Fails on high and critical ones. If
 * the registry has no advisories or cannot be reached, prints that nothing was checked.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { z } from 'zod';

const severity = z.enum(['info', 'low', 'moderate', 'high', 'critical']);

const report = z.object({
  vulnerabilities: z.record(
    z.string(),
    z.object({
      severity,
      range: z.string(),
      via: z.array(z.union([z.string(), z.object({ title: z.string(), url: z.string() })])),
    }),
  ),
  metadata: z.object({ dependencies: z.object({ total: z.number() }) }),
});

const failure = z.object({
  message: z.string().optional(),
  error: z.object({ summary: z.string() }).optional(),
});

const root = join(import.meta.dirname, '..');
const output = await runAudit();
const parsed = report.safeParse(output);
if (parsed.success) printReport(parsed.data);
else {
  const { message, error } = failure.safeParse(output).data ?? {};
  const reason = (error?.summary || message || 'npm audit printed no report').split('\n')[0];
  console.log(
    `NOT CHECKED: known vulnerabilities of the npm packages, because there are no advisories: ${reason}`,
  );
}

/** The report of `npm audit` as JSON. Its exit code says the same. */
function runAudit(): Promise<unknown> {
  const args = ['audit', '--json', '--fetch-timeout=20000', '--fetch-retries=1'];
  return new Promise((resolve) => {
    execFile('npm', args, { cwd: root, timeout: 120_000, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        resolve({ message: error?.message });
      }
    });
  });
}

function printReport({ vulnerabilities, metadata }: z.infer<typeof report>): void {
  const found = Object.entries(vulnerabilities);
  for (const [name, { severity, range, via }] of found) {
    // a text is the name of another package in this list, through which this one is vulnerable
    const advisories = via.map((one) =>
      typeof one === 'string' ? `through ${one}` : `${one.title} (${one.url})`,
    );
    console.log(`${severity}: ${name} ${range}: ${advisories.join('; ')}`);
  }
  const severe = found.filter(([, one]) => one.severity === 'high' || one.severity === 'critical');
  console.log(
    `${metadata.dependencies.total} packages checked: ${found.length} with advisories, ${severe.length} of them high or critical.`,
  );
  if (severe.length > 0) process.exitCode = 1;
}
