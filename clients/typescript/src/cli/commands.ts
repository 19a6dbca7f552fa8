/** All commands of `pds`. */
import { acknowledgementCommands } from './acknowledgements.ts';
import { approvalCommands } from './approvals.ts';
import { assetCommands } from './assets.ts';
import { auditCommands } from './audit.ts';
import type { Command } from './command.ts';
import { completionCommands } from './completion.ts';
import { docsCommands } from './docs.ts';
import { importCommand } from './import.ts';
import { library } from './library.ts';
import { listen } from './listen.ts';
import { login, logout } from './login.ts';
import { opsCommands } from './ops.ts';
import { pull } from './pull.ts';
import { push } from './push.ts';
import { reviewCommands } from './reviews.ts';
import { webhookCommands } from './webhooks.ts';

/** The commands, in the order of the help. */
export const commands: readonly Command[] = [
  login,
  logout,
  ...docsCommands,
  ...approvalCommands,
  ...acknowledgementCommands,
  ...reviewCommands,
  ...assetCommands,
  library,
  ...auditCommands,
  pull,
  push,
  importCommand,
  ...webhookCommands,
  listen,
  ...opsCommands,
  ...completionCommands(() => commands),
];
