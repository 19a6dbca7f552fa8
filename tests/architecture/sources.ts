/** The source files and Markdown pages of the project, as the architecture test reads them. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;

/** The libraries. Each may import only those before it. */
export const libraries = [
  'opc',
  'rich-text',
  'pictures',
  'markdown',
  'html-page',
  'contract',
  'workers',
  'events',
  'store',
  'http',
  'service',
  'testing',
];

/** A TypeScript or JavaScript file. */
export interface Source {
  /** From the root of the project. */
  path: string;
  text: string;
  /** Import targets: paths from the root, `#libs/…` or package names. */
  imports: string[];
  /** The targets of which values are imported, not only types. */
  values: string[];
}

/** All source files. */
export function readSources(): Source[] {
  const folders = ['libs', 'services', 'clients', 'tools', 'scripts', 'tests', 'bench', 'examples'];
  const paths = folders
    .flatMap((folder) => listFiles(join(root, folder)))
    .map((path) => relative(root, path));
  return paths.filter((path) => /\.(ts|cjs|mjs|js)$/.test(path)).map(readSource);
}

/** All Markdown pages with their texts, except the results of benchmarks. */
export function readPages(): { path: string; text: string }[] {
  const topLevel = readdirSync(root).map((name) => join(root, name));
  const nested = ['docs', 'services', 'libs', 'clients', 'charts', 'k8s', 'examples'].flatMap((folder) =>
    listFiles(join(root, folder)),
  );
  return [...topLevel, ...nested]
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));
}

/** The names of all files and folders below a folder, which is a path from the root. */
export function listNames(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true }).map(String);
}

/** The library that a path belongs to. */
export function getLibrary(path: string): string | undefined {
  return /^libs\/([a-z-]+)\//.exec(path)?.[1];
}

/** The service that a path belongs to. */
export function getService(path: string): string | undefined {
  return /^services\/([a-z-]+)\//.exec(path)?.[1];
}

/** The text of a file, by its path from the root. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Whether a file runs only in tests. */
export function isTest(path: string): boolean {
  return /\.test\.ts$|\/testing\//.test(path) || path.startsWith('tests/');
}

/** Whether a file of a service handles operations or consumes events. */
export function isCapability({ path, text }: Source): boolean {
  const imported = [...text.matchAll(/^import \{([^}]*)\} from '#libs\/(?:http|events)'/gm)];
  return (
    /^services\//.test(path) && imported.some(([, names = '']) => /(^|,)\s*(handle|on)\s*(,|$)/.test(names))
  );
}

function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8');
  const targets = [...text.matchAll(/(?:^|\s)(?:from|import) '([^']+)'|import\('([^']+)'\)/g)];
  const types = [...text.matchAll(/^(?:import|export) type [^']* from '([^']+)'/gm)];
  const lists = [...text.matchAll(/^(?:import|export) \{([^}]*)\} from '([^']+)'/gm)];
  const typeLists = lists.filter(([, names = '']) =>
    names.split(',').every((name) => name.trim() === '' || /^\s*type\s/.test(name)),
  );
  const imports = targets.map(([, target, lazy]) => resolveTarget(path, target ?? lazy ?? ''));
  // a target is listed once per statement, so a type import does not hide a value import of the same target
  const values = [...imports];
  for (const target of [...types.map(([, name]) => name), ...typeLists.map(([, , name]) => name)]) {
    const at = values.indexOf(resolveTarget(path, target ?? ''));
    if (at >= 0) values.splice(at, 1);
  }
  return { path, text, imports, values };
}

function resolveTarget(from: string, target: string): string {
  return target.startsWith('.') ? normalize(join(dirname(from), target)) : target;
}

/** Folders of files that nobody writes by hand. */
const skipped = new Set(['node_modules', 'generated']);

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : listFiles(path);
      return [path];
    });
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}
