/** The house rules, checked by machine: rooms, doors, arrows, sizes. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const root = new URL('..', import.meta.url).pathname;
const libs = ['rich-text', 'contract', 'events', 'store', 'http', 'service', 'testing'];

interface Source {
  path: string;
  text: string;
  imports: string[];
  /** Those of which only types are used. */
  types: string[];
}

const sources = ['libs', 'services', 'scripts', 'tests', 'bench'].flatMap(sourcesIn);
const shipped = sources.filter(({ path }) => /^(libs|services)\//.test(path) && !isTest(path));

/** Modules that have one home; elsewhere they are reached through it. */
const homes: Record<string, RegExp> = {
  express: /^libs\/(http|service)\//,
  mongoose: /^libs\/(store|testing)\/|^services\/[a-z-]+\/store(\.ts|\/)/,
  amqplib: /^libs\/events\//,
  pino: /^libs\/service\//,
  'prom-client': /^libs\/service\//,
  '@opentelemetry/api': /^libs\/service\//,
  testcontainers: /^libs\/testing\//,
  'playwright-core': /^libs\/testing\//,
  jsonwebtoken: /^services\/identity\//,
  undici: /^services\/webhook-delivery\//,
};

describe('doors', () => {
  test('a library is imported through its door, and only to the left', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const own = libs.indexOf(libOf(path) ?? '');
      return imports.flatMap((target) => {
        const lib =
          /^#libs\/([a-z-]+)$/.exec(target)?.[1] ?? (target.startsWith('libs/') ? libOf(target) : undefined);
        if (lib === undefined || lib === libOf(path)) return [];
        const throughDoor = target.startsWith('#libs/') || isTest(path) || libOf(path) === 'testing';
        const leftwards = own === -1 || libs.indexOf(lib) < own || isTest(path);
        return throughDoor && leftwards ? [] : [`${path} → ${target}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  test('there are the seven libraries and no eighth', () => {
    expect(new Set(sources.map(({ path }) => libOf(path)).filter(Boolean))).toEqual(new Set(libs));
  });

  test('a service is imported by another through its door: the contract, or the leaves beside it that contracts share', () => {
    const wrong = shipped.flatMap(({ path, imports }) =>
      imports
        .filter((target) => serviceOf(target) && serviceOf(path) && serviceOf(target) !== serviceOf(path))
        .filter((target) => !/\/(contract|views|events)\.ts$/.test(target))
        .map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('libraries know no service', () => {
    const wrong = sources.filter(
      ({ path, imports }) =>
        /^libs\//.test(path) && !isTest(path) && imports.some((target) => target.startsWith('services/')),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('a capability imports no other capability', () => {
    const capabilities = new Set(shipped.filter(isCapability).map(({ path }) => path));
    const wrong = shipped
      .filter(isCapability)
      .flatMap(({ path, imports, types }) =>
        imports
          .filter((target) => capabilities.has(target) && !types.includes(target))
          .map((target) => `${path} → ${target}`),
      );
    expect(wrong).toEqual([]);
  });
});

describe('rooms', () => {
  test('each third-party framework has one home', () => {
    const wrong = shipped.flatMap(({ path, imports }) =>
      imports
        .filter((target) => homes[target] && !homes[target].test(path))
        .map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('a contract does no I/O and has no clock', () => {
    const wrong = shipped.filter(
      ({ path, text, imports }) =>
        /^services\/[a-z-]+\/(contract|shapes|events|views|problems|access)\.ts$/.test(path) &&
        (imports.some((target) => /^(node:|express|mongoose)/.test(target)) ||
          /Date\.now|new Date\(|Math\.random/.test(text)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('rules are pure: no waiting, no clock, no chance, no logging', () => {
    const rules = shipped.filter(({ path }) => /\/rules(\.ts|\/)/.test(path));
    expect(rules.length).toBeGreaterThan(3);
    const wrong = rules.filter(({ text }) =>
      /\basync\b|\bawait\b|Date\.now|new Date\(\)|Math\.random|randomBytes|console\.|\blog\./.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('the environment is read by the mains and the places that start programs', () => {
    const mayRead =
      /^services\/(all|[a-z-]+\/main|export\/threads\/apart)\.ts$|^libs\/(testing|store\/embedded)\//;
    const wrong = shipped.filter(({ path, text }) => /process\.env/.test(text) && !mayRead.test(path));
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('every service has its rooms', () => {
    const services = new Set(
      shipped
        .filter(({ path }) => /^services\/[a-z-]+\/contract.ts$/.test(path))
        .map(({ path }) => serviceOf(path)),
    );
    expect(services).toEqual(new Set(['documents', 'sharing', 'export', 'webhook-delivery', 'identity']));
    const paths = readdirSync(join(root, 'services'), { recursive: true }).map(String);
    for (const service of services) {
      expect(paths).toContain(`${service}/service.ts`);
      expect(paths).toContain(`${service}/README.md`);
      expect(
        paths.some((path) => path.startsWith(`${service}/store.ts`) || path.startsWith(`${service}/store/`)),
      ).toBe(true);
      expect(
        paths.some((path) => path.startsWith(`${service}/rules.ts`) || path.startsWith(`${service}/rules/`)),
      ).toBe(true);
    }
  });
});

describe('sizes and names', () => {
  test('no file is over 250 lines, and the median is near 60', () => {
    const lengths = shipped.map(({ path, text }) => ({ path, lines: text.split('\n').length - 1 }));
    expect(lengths.filter(({ lines }) => lines > 250)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(90);
  });

  test('wiring stays small', () => {
    const long = shipped.filter(
      ({ path, text }) =>
        path.endsWith('/service.ts') && /^services\//.test(path) && text.split('\n').length > 80,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test('file names are lower-case words with dashes that say what is inside', () => {
    const wrong = sources.filter(({ path }) =>
      path.split('/').some((part) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test)?(\.(ts|cjs|js|mjs))?$/.test(part)),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
    const empty = sources.filter(({ path }) =>
      /(^|\/)(index|utils?|helpers?|common|shared|misc)(\.|\/)/.test(path),
    );
    expect(empty.map(({ path }) => path)).toEqual([]);
  });

  test('every file opens with one sentence that says what it is for', () => {
    const silent = sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('every export of a library or service has a doc comment', () => {
    const silent = shipped
      .filter(({ path }) => !path.endsWith('/mod.ts'))
      .flatMap(({ path, text }) => {
        const lines = text.split('\n');
        return lines.flatMap((line, at) => {
          const exported = /^export (async )?(function\*?|class) (\w+)/.exec(line);
          const documented = /\*\/$/.test(lines[at - 1] ?? '');
          return exported && !documented ? [`${path}: ${exported[3]}`] : [];
        });
      });
    expect(silent).toEqual([]);
  });

  test('an escape from the types or the linter has its reason beside it', () => {
    const wrong = sources.flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, at) => {
        const ignores =
          /@ts-(ignore|nocheck)|eslint-disable/.test(line) || /biome-ignore(-start|-end)? [^:]*$/.test(line);
        return ignores && path !== 'tests/architecture.test.ts' ? [`${path}:${at + 1}`] : [];
      }),
    );
    expect(wrong).toEqual([]);
  });
});

function sourcesIn(folder: string): Source[] {
  const paths = entries(join(root, folder)).map((path) => relative(root, path));
  return paths
    .filter((path) => /\.(ts|cjs|mjs|js)$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      const named = [...text.matchAll(/(?:^|\s)(?:from|import) '([^']+)'|import\('([^']+)'\)/g)].map(
        ([, a, b]) => a ?? b ?? '',
      );
      const types = [...text.matchAll(/^import type [^']* from '([^']+)'/gm)].map(
        ([, target]) => target ?? '',
      );
      return {
        path,
        text,
        imports: named.map((target) => resolved(path, target)),
        types: types.map((target) => resolved(path, target)),
      };
    });
}

function resolved(from: string, target: string): string {
  return target.startsWith('.') ? normalize(join(dirname(from), target)) : target;
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : entries(path);
      return [path];
    });
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function libOf(path: string): string | undefined {
  return /^libs\/([a-z-]+)\//.exec(path)?.[1];
}

function serviceOf(path: string): string | undefined {
  const service = /^services\/([a-z-]+)\//.exec(path)?.[1];
  return service === 'local' ? undefined : service;
}

function isTest(path: string): boolean {
  return /\.test\.ts$|\/testing\//.test(path) || path.startsWith('tests/');
}

/** Capabilities are what handles operations or hears events. */
function isCapability({ path, text }: Source): boolean {
  return /^services\/[a-z-]+\/[a-z-]+\.ts$/.test(path) && /\bhandle\(|\bon\(/.test(text);
}
