/** What the commands of operators have in common. */

/** A command: how it is used, and what it does with its arguments. */
export interface Command {
  /** The help text. */
  usage: string;
  /** Rejects with `WrongUsage` if the arguments or settings are wrong, else with the reason of the failure. */
  run(args: string[]): Promise<void>;
}

/** The arguments or settings of a command are wrong. The message, if any, is shown before the help text. */
export class WrongUsage extends Error {}
