/** Writes sample programs for an operation of the OpenAPI document: curl, TypeScript and Python. */

/**
 * Returns the samples of an operation as `{ name, text }`. `operation` comes from the OpenAPI document, `schemas` are
 * its named schemas. The samples read the API key from the environment variable `KEY`.
 */
export function toSamples({ origin, method, path, operation, schemas }) {
  const request = toRequest({ origin, method, path, operation, schemas });
  return [
    { name: 'curl', text: toCurl(request) },
    { name: 'TypeScript', text: toTypeScript(request) },
    { name: 'Python', text: toPython(request) },
  ];
}

function toRequest({ origin, method, path, operation, schemas }) {
  const { parameters = [], requestBody, responses, security } = operation;
  const shown = parameters.filter((parameter) => 'example' in parameter);
  const filled = shown
    .filter((parameter) => parameter.in === 'path')
    .reduce((text, { name, example }) => text.replace(`{${name}}`, encodeURIComponent(example)), path);
  const query = shown
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name, example }) => [example].flat().map((value) => [name, String(value)]));
  const search = query.length > 0 ? `?${new URLSearchParams(query)}` : '';
  const [, success = {}] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
  const types = Object.keys(success.content ?? {});
  const [type] = types;
  const form = requestBody?.content['multipart/form-data'];
  return {
    method: method.toUpperCase(),
    url: origin + filled + search,
    isPublic: security !== undefined,
    accept: types.length > 1 ? type : undefined,
    type,
    isFile: success.content?.[type]?.schema?.format === 'binary',
    body: requestBody?.content['application/json']?.example,
    encoded: requestBody?.content['application/x-www-form-urlencoded']?.example,
    form: form && toForm(schemas[form.schema.$ref.split('/').at(-1)]),
  };
}

/** The fields of a form with their examples, and the name of its file. */
function toForm({ properties }) {
  const entries = Object.entries(properties);
  return {
    fields: entries.filter(([, { examples }]) => examples).map(([name, { examples }]) => [name, examples[0]]),
    file: entries.find(([, { format }]) => format === 'binary')?.[0],
  };
}

function toCurl({ method, url, isPublic, accept, isFile, body, encoded, form }) {
  const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(url)}`,
    ...(isPublic ? [] : ['-H "Authorization: Bearer $KEY"']),
    ...(accept ? [`-H ${quote(`Accept: ${accept}`)}`] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quote(toJson(body))}`]),
    ...Object.entries(encoded ?? {}).map(([name, value]) => `--data-urlencode ${quote(`${name}=${value}`)}`),
    ...(form?.fields ?? []).map(([name, value]) => `-F ${quote(`${name}=${value}`)}`),
    ...(form ? [`-F ${form.file}=@template.docx`] : []),
    ...(isFile ? ['-o document.docx'] : []),
  ];
  return lines.join(' \\\n  ');
}

function toTypeScript({ method, url, isPublic, accept, type, isFile, body, encoded, form }) {
  const headers = [
    ...(isPublic ? [] : [`Authorization: \`Bearer \${process.env.KEY}\``]),
    ...(accept ? [`Accept: '${accept}'`] : []),
    ...(body === undefined ? [] : [`'Content-Type': 'application/json'`]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}'`]),
    ...(headers.length > 0 ? [`headers: { ${headers.join(', ')} }`] : []),
    ...(body === undefined ? [] : [`body: JSON.stringify(${indent(toJson(body), 2)})`]),
    ...(encoded ? [`body: new URLSearchParams(${JSON.stringify(encoded)})`] : []),
    ...(form ? ['body: form'] : []),
  ];
  const lines = [
    ...(isFile ? ["import { writeFile } from 'node:fs/promises';", ''] : []),
    ...(form ? ["import { readFile } from 'node:fs/promises';", '', 'const form = new FormData();'] : []),
    ...(form?.fields ?? []).map(
      ([name, value]) => `form.append('${name}', ${JSON.stringify(String(value))});`,
    ),
    ...(form
      ? [`form.append('${form.file}', new Blob([await readFile('template.docx')]), 'template.docx');`, '']
      : []),
    options.length > 0
      ? `const response = await fetch('${url}', {\n  ${options.join(',\n  ')},\n});`
      : `const response = await fetch('${url}');`,
    'if (!response.ok) throw new Error((await response.json()).detail);',
    ...readTypeScript(type, isFile),
  ];
  return lines.join('\n');
}

function readTypeScript(type, isFile) {
  if (isFile) return ["await writeFile('document.docx', Buffer.from(await response.arrayBuffer()));"];
  if (type === undefined) return [];
  return [`console.log(await response.${type === 'application/json' ? 'json' : 'text'}());`];
}

function toPython({ method, url, isPublic, accept, type, isFile, body, encoded, form }) {
  const headers = [
    ...(isPublic ? [] : [`"Authorization": f"Bearer {os.environ['KEY']}"`]),
    ...(accept ? [`"Accept": "${accept}"`] : []),
  ];
  const options = [
    `"${method}"`,
    `"${url}"`,
    ...(headers.length > 0 ? [`headers={${headers.join(', ')}}`] : []),
    ...(body === undefined ? [] : [`json=${indent(toPythonValue(body), 4)}`]),
    ...(encoded ? [`data=${toPythonValue(encoded)}`] : []),
    ...(form ? [`data=${toPythonValue(Object.fromEntries(form.fields), 4)}`] : []),
    ...(form ? [`files={"${form.file}": open("template.docx", "rb")}`] : []),
  ];
  const lines = [
    ...(isPublic ? [] : ['import os', '']),
    'import requests',
    '',
    `response = requests.request(\n    ${options.join(',\n    ')},\n)`,
    'response.raise_for_status()',
    ...readPython(type, isFile),
  ];
  return lines.join('\n');
}

function readPython(type, isFile) {
  if (isFile) return ['open("document.docx", "wb").write(response.content)'];
  if (type === undefined) return [];
  return [`print(response.${type === 'application/json' ? 'json()' : 'text'})`];
}

const toJson = (value) => JSON.stringify(value, null, 2);

const indent = (text, columns) => text.replaceAll('\n', `\n${' '.repeat(columns)}`);

/** A value as a Python literal. Outside of texts, JSON differs only in three words. */
function toPythonValue(value) {
  const words = { true: 'True', false: 'False', null: 'None' };
  return JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (token) => words[token] ?? token,
  );
}
