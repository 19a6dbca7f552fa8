/** Runs the command line `pds` from its sources: `npm run pds -- <command>`. */
import { generateClient } from './typescript-client/generate.ts';

await generateClient();
// after the generation, because the command line imports generated files
await import('../clients/typescript/src/cli/main.ts');
