/** Shell completion: the candidates for a word, from the declarations of the commands, and the shells' scripts. */
import { type ArgumentSpec, type Command, command, commonOptions, type OptionSpec } from './command.ts';
import { findCommand } from './parse.ts';

/** A candidate with its description. `files` stands for the names of files. */
export type Candidate = { word: string; description: string } | 'files';

/** The candidates for the last word of a command line. The words do not include `pds`. */
export function complete(commands: readonly Command[], words: readonly string[]): Candidate[] {
  const last = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const found = findCommand(commands, before);
  const candidates = found ? completeCommand(found, before, last) : completeName(commands, before);
  return candidates.filter((one) => one === 'files' || one.word.startsWith(last));
}

/** The next words of the commands that begin with these words. */
function completeName(commands: readonly Command[], before: readonly string[]): Candidate[] {
  const shown = commands.filter(({ isHidden }) => !isHidden);
  const matching = shown.filter(({ name }) => before.every((word, at) => name.split(' ')[at] === word));
  const candidates = new Map<string, string>();
  for (const { name, summary } of matching) {
    const next = name.split(' ')[before.length];
    if (next === undefined) continue;
    const isGroup = name.split(' ').length > before.length + 1;
    candidates.set(next, isGroup ? `Commands on ${next}` : summary);
  }
  return [...candidates].map(([word, description]) => ({ word, description }));
}

function completeCommand(found: Command, before: readonly string[], last: string): Candidate[] {
  if (found.takesAnything) return [];
  const options: Record<string, OptionSpec> = { ...found.options, ...commonOptions };
  const pending = options[/^--(.+)$/.exec(before.at(-1) ?? '')?.[1] ?? ''];
  if (pending && pending.type !== 'boolean') return toCandidates(pending);
  if (last.startsWith('-'))
    return Object.entries(options).map(([name, { description }]) => ({ word: `--${name}`, description }));
  const position = countArguments(before.slice(found.name.split(' ').length), options);
  const specs = found.arguments ?? [];
  const spec = specs[position] ?? (specs.at(-1)?.isRepeated ? specs.at(-1) : undefined);
  return spec ? toCandidates(spec) : [];
}

function toCandidates({ choices = [], completes, description }: ArgumentSpec | OptionSpec): Candidate[] {
  return completes ? [completes] : choices.map((word) => ({ word, description }));
}

/** How many of the words are arguments, and neither options nor their values. */
function countArguments(words: readonly string[], options: Record<string, OptionSpec>): number {
  const isValue = (at: number) => {
    const spec = options[/^--(.+)$/.exec(words[at - 1] ?? '')?.[1] ?? ''];
    return spec !== undefined && spec.type !== 'boolean';
  };
  return words.filter((word, at) => !word.startsWith('-') && !isValue(at)).length;
}

/** The scripts. Each calls `pds __complete` and shows the result. */
export const scripts = {
  bash: `# Completion of pds for bash. Load it with: source <(pds completion bash)
_pds() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [ "$line" = :files ]; then
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}")
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(pds __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pds pds
`,
  zsh: `#compdef pds
# Completion of pds for zsh. Load it with: source <(pds completion zsh)
_pds() {
  local line
  local -a candidates
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
    else
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done < <(pds __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#candidates} )) && _describe pds candidates
}
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _pds pds
`,
  fish: `# Completion of pds for fish. Load it with: pds completion fish | source
function __pds_complete
  for line in (pds __complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test "$line" = :files
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c pds -f -a '(__pds_complete)'
`,
};

/** The commands of completion. `list` returns all commands of the program. */
export function completionCommands(list: () => readonly Command[]): Command[] {
  return [
    command({
      name: 'completion',
      summary: 'Print the completion script of a shell',
      details: `bash: source <(pds completion bash)
zsh: source <(pds completion zsh)
fish: pds completion fish | source`,
      arguments: [{ name: 'shell', description: 'The shell', choices: ['bash', 'zsh', 'fish'] }],
      async run(context, { arguments: { shell } }) {
        context.stdout.write(scripts[shell]);
        return undefined;
      },
    }),
    command({
      name: '__complete',
      summary: 'Print the candidates for the last word',
      arguments: [{ name: 'words', description: 'The words', isOptional: true, isRepeated: true }],
      takesAnything: true,
      isHidden: true,
      async run(context, { arguments: { words } }) {
        const given = words[0] === '--' ? words.slice(1) : words;
        for (const one of complete(list(), given))
          context.print(one === 'files' ? ':files' : `${one.word}\t${one.description}`);
        return undefined;
      },
    }),
  ];
}
