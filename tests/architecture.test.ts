/** The rules of ARCHITECTURE.md and CONTRIBUTING.md that a machine can check: dependencies, places, sizes, wording. */
import { describe, expect, test } from '@jest/globals';
import { createImportGraph, findCircles, findReachable } from './architecture/import-graph.ts';
import {
  getLibrary,
  getService,
  isCapability,
  isTest,
  libraries,
  listNames,
  readPages,
  readSources,
  readText,
} from './architecture/sources.ts';
import {
  type Finding,
  findAdrFaults,
  findBannedComments,
  findBannedFileWords,
  findBannedNames,
  findBannedProse,
  findLongLines,
  findTestNames,
} from './architecture/wording.ts';

const sources = readSources();
const pages = readPages();
const shipped = sources.filter(({ path }) => /^(libs|services)\//.test(path) && !isTest(path));
const clients = sources.filter(({ path }) => path.startsWith('clients/') && !isTest(path));

/** The only places that may import a framework. */
const frameworkPlaces: Record<string, RegExp> = {
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

describe('dependencies', () => {
  test('a library imports only the public modules of libraries before it', () => {
    const wrong = sources.flatMap(({ path, imports }) => {
      const own = libraries.indexOf(getLibrary(path) ?? '');
      return imports.flatMap((target) => {
        const lib =
          /^#libs\/([a-z-]+)$/.exec(target)?.[1] ??
          (target.startsWith('libs/') ? getLibrary(target) : undefined);
        if (lib === undefined || lib === getLibrary(path)) return [];
        const isPublic = target.startsWith('#libs/') || isTest(path) || getLibrary(path) === 'testing';
        const isBefore = own === -1 || libraries.indexOf(lib) < own || isTest(path);
        return isPublic && isBefore ? [] : [`${path} → ${target}`];
      });
    });
    expect(wrong).toEqual([]);
  });

  test('there are nine libraries', () => {
    expect(new Set(sources.map(({ path }) => getLibrary(path)).filter(Boolean))).toEqual(new Set(libraries));
  });

  test('a service imports only public modules of another', () => {
    const wrong = shipped.flatMap(({ path, imports }) =>
      imports
        .filter((target) => getService(target) && getService(path) && getService(target) !== getService(path))
        .filter((target) => !/\/(contract|views|events)\.ts$/.test(target))
        .filter((target) => !/^services\/identity\/(principal|storage-quota)\.ts$/.test(target))
        .map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('libraries import no service', () => {
    const wrong = sources.filter(
      ({ path, imports }) =>
        /^libs\//.test(path) && !isTest(path) && imports.some((target) => target.startsWith('services/')),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('a client imports only its own files, and below cli/ also Node', () => {
    const wrong = clients.flatMap(({ path, imports }) => {
      const own = path.split('/').slice(0, 3).join('/');
      const isCli = path.startsWith(`${own}/cli/`);
      const isAllowed = (target: string) =>
        target.startsWith(`${own}/`) && (isCli || !target.startsWith(`${own}/cli/`));
      return imports
        .filter((target) => !isAllowed(target) && !(isCli && target.startsWith('node:')))
        .map((target) => `${path} → ${target}`);
    });
    expect(wrong).toEqual([]);
    expect(clients.length).toBeGreaterThan(10);
  });

  test('a client uses only web standards outside of cli/', () => {
    const wrong = clients.filter(
      ({ path, text }) => !path.includes('/cli/') && /\b(process\.|Buffer\b|require\(|Deno\b)/.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('a capability imports no other capability', () => {
    const capabilities = new Set(shipped.filter(isCapability).map(({ path }) => path));
    const wrong = shipped
      .filter(isCapability)
      .flatMap(({ path, values }) =>
        values.filter((target) => capabilities.has(target)).map((target) => `${path} → ${target}`),
      );
    expect(wrong).toEqual([]);
  });

  test('files do not import each other in a circle', () => {
    expect(findCircles(createImportGraph(sources, 'values'))).toEqual([]);
    // product code has no circle of types either
    expect(findCircles(createImportGraph(shipped, 'imports'))).toEqual([]);
  });
});

describe('places', () => {
  test('product code imports neither tools nor clients nor test code', () => {
    const product = shipped.filter(({ path }) => !path.startsWith('libs/testing/'));
    const wrong = product.flatMap(({ path, imports }) =>
      imports
        .filter((target) => target === '#libs/testing' || isTest(target) || /^(tools|clients)\//.test(target))
        .map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the image contains only product code and the commands of operators', () => {
    const [, files = '', ...stages] = readText('Dockerfile').split(/^FROM /m);
    const listSources = (stage: string) =>
      [...stage.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
    const ofFiles = [
      'LICENSE',
      'deno.json',
      'docs/contracts/openapi.json',
      'package-lock.json',
      'package.json',
    ];
    const product = [...ofFiles, 'scripts/sbom.ts', 'libs', 'services', 'tools/admin'];
    expect(listSources(files).toSorted()).toEqual(product.toSorted());
    const trial = ['tools/local-run', 'tools/mongod', 'tests/fixtures/incident-response-sop.json'];
    for (const stage of stages)
      expect(listSources(stage)).toEqual(/ AS all-in-one\n/.test(stage) ? trial : []);

    const lines = readText('.dockerignore').split('\n').filter(Boolean);
    expect(lines[0]).toBe('*');
    const included = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    expect(included.toSorted()).toEqual([...product, ...trial].toSorted());
    expect(lines).toEqual(expect.arrayContaining(['libs/testing', '**/testing', '**/*.test.ts']));
  });

  test('the image contains every package that its code imports', () => {
    const { dependencies } = JSON.parse(readText('package.json'));
    const allInOne = findReachable(createImportGraph(sources, 'values'), 'tools/local-run/container.ts');
    const inImage = sources.filter(
      ({ path }) =>
        (shipped.some((one) => one.path === path) || path.startsWith('tools/admin/') || allInOne.has(path)) &&
        !path.startsWith('libs/testing/') &&
        !isTest(path),
    );
    expect(allInOne).toContain('tools/mongod/replica-set.ts');
    const wrong = inImage.flatMap(({ path, values }) =>
      values
        .filter((target) => !/^(#libs\/|node:|[a-z]+\/.*\.(ts|js|json)$|package\.json$)/.test(target))
        .map((target) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target)
        .filter((name) => !Object.hasOwn(dependencies, name))
        .map((name) => `${path} → ${name}`),
    );
    expect(wrong).toEqual([]);
    expect(readText('Dockerfile')).toContain('npm ci --omit=dev --omit=optional');
  });

  test('samples, attacks and fixture generators are in tests/', () => {
    const wrong = sources.filter(
      ({ path }) =>
        !path.startsWith('tests/') && /\/(corpus\/|(attacks|hostile|samples|sample-[a-z]+)\.ts$)/.test(path),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('each framework is imported in one place', () => {
    const wrong = shipped.flatMap(({ path, imports }) =>
      imports
        .filter((target) => frameworkPlaces[target] && !frameworkPlaces[target].test(path))
        .map((target) => `${path} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test('contracts and what they import do no I/O and read no clock', () => {
    const graph = createImportGraph(shipped, 'values');
    const contracts = shipped.filter(({ path }) => /^services\/[a-z-]+\/contract\.ts$/.test(path));
    const reached = new Set(contracts.flatMap(({ path }) => [...findReachable(graph, path)]));
    const files = shipped.filter(({ path }) => path.startsWith('services/') && reached.has(path));
    const isPure = (target: string) =>
      /^(services\/.*|#libs\/(contract|rich-text)|zod|ipaddr\.js)$/.test(target);
    const wrong = files.flatMap(({ path, text, values }) => [
      ...values.filter((target) => !isPure(target)).map((target) => `${path} → ${target}`),
      ...(/Date\.now|new Date\(\)|Math\.random/.test(text) ? [path] : []),
    ]);
    expect(wrong).toEqual([]);
    expect(files.length).toBeGreaterThan(20);
  });

  test('rules are pure: no async, clock, randomness or logging', () => {
    const rules = shipped.filter(({ path }) => /\/rules(\.ts|\/)/.test(path));
    expect(rules.length).toBeGreaterThan(3);
    const wrong = rules.filter(({ text }) =>
      /\basync\b|\bawait\b|Date\.now|new Date\(\)|Math\.random|randomBytes|console\.|\blog\./.test(text),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('only entry points and program starters read process.env', () => {
    // the samples of the reference page show it
    const samples = 'services/identity/reference/page/samples.js';
    const mayRead = /^services\/(all|[a-z-]+\/main)\.ts$|^libs\/(testing\/|workers\/worker\.ts$)/;
    const wrong = shipped.filter(
      ({ path, text }) => /process\.env/.test(text) && !mayRead.test(path) && path !== samples,
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });

  test('every service has a contract, wiring, store, rules and README', () => {
    const services = new Set(
      shipped
        .filter(({ path }) => /^services\/[a-z-]+\/contract.ts$/.test(path))
        .map(({ path }) => getService(path)),
    );
    expect(services).toEqual(new Set(['documents', 'sharing', 'export', 'webhook-delivery', 'identity']));
    const paths = listNames('services');
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
  test('no file is over 250 lines and the median is below 90', () => {
    const lengths = [...shipped, ...clients].map(({ path, text }) => ({
      path,
      lines: text.split('\n').length - 1,
    }));
    expect(lengths.filter(({ lines }) => lines > 250)).toEqual([]);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(90);
  });

  test('service.ts has at most 80 lines', () => {
    const long = shipped.filter(
      ({ path, text }) =>
        path.endsWith('/service.ts') && /^services\//.test(path) && text.split('\n').length > 80,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test('file names are lower-case words joined by hyphens', () => {
    const wrong = sources.filter(({ path }) =>
      path
        .split('/')
        .some(
          (part) =>
            !/^[a-z0-9]+(-[a-z0-9]+)*((\.(e2e|chaos|security))?\.test)?(\.(ts|cjs|js|mjs))?$/.test(part),
        ),
    );
    expect(wrong.map(({ path }) => path)).toEqual([]);
    const empty = sources.filter(({ path }) =>
      /(^|\/)(index|utils?|helpers?|common|shared|misc)(\.|\/)/.test(path),
    );
    expect(empty.map(({ path }) => path)).toEqual([]);
  });

  test('every file opens with a doc comment', () => {
    const silent = sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text));
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test('every exported function or class has a doc comment', () => {
    const silent = [...shipped, ...clients]
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

  test('every suppression of types or the linter states its reason', () => {
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

describe('wording', () => {
  test('names use standard terms, and functions are verbs', () => {
    expect(report(sources, ({ text }) => findBannedNames(text))).toEqual([]);
  });

  test('file names use standard terms', () => {
    expect(
      sources.filter(({ path }) => findBannedFileWords(path).length > 0).map(({ path }) => path),
    ).toEqual([]);
  });

  test('comments use plain words', () => {
    expect(report(sources, ({ text }) => findBannedComments(text))).toEqual([]);
  });

  test('pages use plain words', () => {
    expect(report(pages, ({ text }) => findBannedProse(text))).toEqual([]);
  });

  test('comments and prose wrap at 120 characters', () => {
    expect(report([...sources, ...pages], ({ path, text }) => findLongLines(path, text))).toEqual([]);
  });

  test('test names have at most 70 characters', () => {
    const tests = sources.filter(({ path }) => path.endsWith('.test.ts'));
    expect(report(tests, ({ text }) => findTestNames(text).filter((name) => name.text.length > 70))).toEqual(
      [],
    );
  });

  test('test names are unique', () => {
    const files = new Map<string, string[]>();
    for (const { path, text } of sources.filter((source) => source.path.endsWith('.test.ts')))
      for (const { fullName } of findTestNames(text).filter(({ isGroup }) => !isGroup))
        files.set(fullName, [...(files.get(fullName) ?? []), path]);
    expect([...files].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  test('decision records have a short title, a status and a date', () => {
    const records = pages.filter(({ path }) => /^docs\/adr\/\d{4}-/.test(path));
    expect(records.length).toBeGreaterThan(20);
    const faults = records.flatMap(({ path, text }) =>
      findAdrFaults(text).map((fault) => `${path}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });
});

function report<File extends { path: string }>(
  files: readonly File[],
  find: (file: File) => Finding[],
): string[] {
  // the lists of what is ruled out name it themselves
  const checked = files.filter(({ path }) => !path.startsWith('tests/architecture/'));
  return checked.flatMap((file) =>
    find(file).map(({ line, text }) => `${file.path}:${line}: ${text.trim()}`),
  );
}
