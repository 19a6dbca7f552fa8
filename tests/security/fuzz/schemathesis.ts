/** Runs Schemathesis, which generates requests from the OpenAPI reference and compares each response with it. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { slowness } from '#libs/testing';
import type { Schemathesis } from '../../../tools/schemathesis/install.ts';
import type { Caller } from './fuzz-target.ts';

/** What a run sends. */
export interface FuzzOptions {
  /** Where the services listen. */
  origin: string;
  caller: Caller;
  /** `coverage` sends the limits of each schema, `fuzzing` random values, `stateful` sequences of operations. */
  phases: readonly ('coverage' | 'fuzzing' | 'stateful')[];
  /** Random requests for each operation. */
  examples: number;
  /** The same seed generates the same requests. */
  seed: number;
  /** Only these operations, or all but these. */
  only?: readonly string[];
  without?: readonly string[];
}

/** The result of a run. */
export interface FuzzResult {
  requests: number;
  /** Responses with a status of 500 or more. */
  serverErrors: number;
  /** Responses that contradict the reference: their status, media type, headers or body. */
  mismatches: number;
  /** What went wrong, with a request that repeats it. Empty if nothing did. */
  text: string;
}

const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

const report = z.object({
  complete: z.boolean(),
  test_cases: z.object({ generated: z.number() }),
  failures: z.array(z.object({ type: z.string(), count: z.number() })),
  errors: z.array(z.unknown()),
});

/** Runs Schemathesis once. Rejects if it could not send all requests. */
export async function fuzz(
  { command, args, environment }: Schemathesis,
  options: FuzzOptions,
): Promise<FuzzResult> {
  const { origin, caller, phases, examples, seed, only = [], without = [] } = options;
  const file = join(caller.folder, `report-${seed}.json`);
  const all = [
    ...['run', caller.reference, '--url', origin, '--checks', checks.join(',')],
    ...['--phases', phases.join(','), '--max-examples', String(examples), '--seed', String(seed)],
    ...['--continue-on-failure', '--suppress-health-check', 'all', '--no-color'],
    ...[
      '--request-timeout',
      String(Math.ceil(60 * slowness)),
      '--report',
      'json',
      '--report-json-path',
      file,
    ],
    ...(caller.token === undefined ? [] : ['--header', `Authorization: Bearer ${caller.token}`]),
    ...only.flatMap((id) => ['--include-operation-id', id]),
    ...without.flatMap((id) => ['--exclude-operation-id', id]),
  ];
  const printed = await new Promise<string>((resolve) => {
    const env = { ...process.env, ...environment, COLUMNS: '120' };
    const limits = { cwd: caller.folder, maxBuffer: 256 * 1024 * 1024 };
    execFile(command, [...args, ...all], { env, ...limits }, (_, stdout, stderr) => resolve(stdout + stderr));
  });
  const text = await readFile(file, 'utf8').catch(() => {
    throw new Error(`Schemathesis wrote no report:\n${printed.slice(-4_000)}`);
  });
  const { complete, test_cases, failures, errors } = report.parse(JSON.parse(text));
  if (!complete || errors.length > 0)
    throw new Error(`Schemathesis could not send all requests:\n${printed}`);
  const count = (isCounted: (type: string) => boolean) =>
    failures.filter(({ type }) => isCounted(type)).reduce((sum, failure) => sum + failure.count, 0);
  return {
    requests: test_cases.generated,
    serverErrors: count((type) => type === 'ServerError'),
    mismatches: count((type) => type !== 'ServerError'),
    text: failures.length > 0 ? (/=+ FAILURES =+\n(.*?)\n=+ WARNINGS =+/s.exec(printed)?.[1] ?? printed) : '',
  };
}
