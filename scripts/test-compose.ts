/**
 * Tests compose.yaml and the all-in-one image with the Docker of this machine: `npm run test:compose`. Each
 * `--file` replaces parts of compose.yaml. It removes its containers and volumes at the end.
 */
import { parseArgs } from 'node:util';
import { formatError } from '#libs/service';
import { testContainers } from './compose/run.ts';

try {
  const { values } = parseArgs({ options: { file: { type: 'string', multiple: true, default: [] } } });
  await testContainers(values.file);
} catch (error) {
  console.error(`\n✗ ${formatError(error)}`);
  process.exitCode = 1;
}
