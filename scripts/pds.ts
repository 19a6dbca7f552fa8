/** Runs the command line `pds` from its sources: `npm run pds -- <command>`. */
import { generateClient } from './typescript-client/generate.ts';

await generateClient();
const { npm_lifecycle_event, INIT_CWD } = process.env;
// npm starts scripts in the folder of the project, but paths in arguments begin where the user is
if (npm_lifecycle_event === 'pds' && INIT_CWD) process.chdir(INIT_CWD);
// after the generation, because the command line imports generated files
await import('../clients/typescript/src/cli/main.ts');
