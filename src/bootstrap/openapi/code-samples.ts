/** A call as the samples make it. */
export interface SampledCall {
  /** In capitals. */
  readonly method: string;
  readonly url: string;
  /** Name of the environment variable with the key or token; absent where none is needed. */
  readonly secret?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The body; `files`: of a form, the paths of files by the names of their fields. */
  readonly body?:
    | {
        readonly kind: 'json' | 'form';
        readonly fields: object;
        readonly files?: Readonly<Record<string, string>>;
      }
    | undefined;
  /** What is done with the answer: it is printed, saved under a name, or there is none. */
  readonly answer: 'json' | 'text' | 'none' | { readonly file: string };
}

/** A sample as tools know it (`x-codeSamples`). */
export interface CodeSample {
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const INDENT = '  ';

/** The call with curl, with Node.js (a module) and with Python (requests). Each ends with an error unless the call succeeds. */
export function samplesOf(call: SampledCall): CodeSample[] {
  return [
    { lang: 'Shell', label: 'curl', source: curlOf(call) },
    { lang: 'JavaScript', label: 'Node.js', source: nodeOf(call) },
    { lang: 'Python', label: 'Python', source: pythonOf(call) },
  ];
}

/** The fields of a form, one by one; a list is its field several times. */
function partsOf(fields: object): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, String(one)]),
  );
}

function filesOf(body: SampledCall['body']): [string, string][] {
  return Object.entries(body?.files ?? {});
}

function curlOf({ method, url, secret, headers, body, answer }: SampledCall): string {
  const isImplied = method === 'GET' || (method === 'POST' && body !== undefined);
  const sent = Object.entries(headers).map(
    ([name, value]) => `-H ${shellText(`${name}: ${value}`)}`,
  );
  const options = [
    ...(secret === undefined ? [] : [`-H "Authorization: Bearer $${secret}"`]),
    ...sent,
    ...(body?.kind === 'json'
      ? [`-H 'Content-Type: application/json'`, `-d ${shellText(jsonText(body.fields))}`]
      : partsOf(body?.fields ?? {}).map(
          // With `-F` curl would take a text that begins with `@` or `<` for a file.
          ([name, value]) => `--form-string ${shellText(`${name}=${value}`)}`,
        )),
    ...filesOf(body).map(([name, path]) => `-F ${shellText(`${name}=@${quotedPath(path)}`)}`),
    ...(typeof answer === 'object' ? [`-o ${answer.file}`] : []),
  ];
  const place = url.includes('?') ? shellText(url) : url;
  const start = `curl --fail-with-body ${isImplied ? '' : `-X ${method} `}${place}`;
  return [start, ...options].join(` \\\n${INDENT}`);
}

/** A text in single quotes, which a shell changes nothing in. */
function shellText(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A path as curl takes it apart in `-F`. */
function quotedPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

function jsonText(value: unknown): string {
  return JSON.stringify(value, null, INDENT.length);
}

function nodeOf(call: SampledCall): string {
  const { url, body, answer } = call;
  const options = nodeOptionsOf(call);
  const argument = options.length === 0 ? '' : `, {\n${indented(options)}\n}`;
  const form = [
    ...partsOf(body?.kind === 'form' ? body.fields : {}).map(
      ([name, value]) => `form.append(${scriptText(name)}, ${scriptText(value)});`,
    ),
    ...filesOf(body).map(([name, path]) => {
      const file = `new Blob([await readFile(${scriptText(path)})])`;
      return `form.append(${scriptText(name)}, ${file}, ${scriptText(path)});`;
    }),
  ];
  const used = [
    ...(filesOf(body).length > 0 ? ['readFile'] : []),
    ...(typeof answer === 'object' ? ['writeFile'] : []),
  ];
  return [
    ...(used.length > 0 ? [`import { ${used.join(', ')} } from 'node:fs/promises';`, ''] : []),
    ...(form.length === 0 ? [] : ['const form = new FormData();', ...form]),
    `const response = await fetch('${url}'${argument});`,
    'if (!response.ok) throw new Error(await response.text());',
    nodeAnswer(answer),
  ].join('\n');
}

/** The fields of the second argument of `fetch`. */
function nodeOptionsOf({ method, secret, headers, body }: SampledCall): string[] {
  const isJson = body?.kind === 'json';
  const sent = [
    ...(secret === undefined ? [] : [`Authorization: \`Bearer \${process.env.${secret}}\``]),
    ...Object.entries({ ...headers, ...(isJson && { 'Content-Type': 'application/json' }) }).map(
      ([name, value]) => `'${name}': ${scriptText(value)}`,
    ),
  ];
  return [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    ...(sent.length === 0 ? [] : [`headers: {\n${indented(sent.map((row) => `${row},`))}\n},`]),
    ...(isJson ? [`body: JSON.stringify(${jsonText(body.fields)}),`] : []),
    ...(body?.kind === 'form' ? ['body: form,'] : []),
  ];
}

/** A text as JavaScript writes it, in single quotes where it can be. */
function scriptText(text: string): string {
  return /['\\\n]/.test(text) ? JSON.stringify(text) : `'${text}'`;
}

function nodeAnswer(answer: SampledCall['answer']): string {
  if (typeof answer === 'object')
    return `await writeFile('${answer.file}', Buffer.from(await response.arrayBuffer()));`;
  return answer === 'none'
    ? 'console.log(response.status);'
    : `console.log(await response.${answer}());`;
}

function pythonOf({ method, url, secret, headers, body, answer }: SampledCall): string {
  const sent = [
    ...(secret === undefined ? [] : [`"Authorization": f"Bearer {os.environ['${secret}']}"`]),
    ...Object.entries(headers).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`),
  ];
  const form = [
    ...partsOf(body?.kind === 'form' ? body.fields : {}).map(
      ([name, value]) => `(${JSON.stringify(name)}, (None, ${JSON.stringify(value)})),`,
    ),
    ...filesOf(body).map(
      ([name, path]) => `(${JSON.stringify(name)}, open(${JSON.stringify(path)}, "rb")),`,
    ),
  ];
  const options = [
    `"${url}",`,
    ...(sent.length === 0 ? [] : [`headers={\n${indented(sent.map((row) => `${row},`))}\n},`]),
    ...(body?.kind === 'json' ? [`json=${pythonValue(body.fields)},`] : []),
    ...(form.length === 0 ? [] : [`files=[\n${indented(form)}\n],`]),
  ];
  return [
    ...(secret === undefined ? [] : ['import os']),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(\n${indented(options)}\n)`,
    'response.raise_for_status()',
    pythonAnswer(answer),
  ].join('\n');
}

function pythonAnswer(answer: SampledCall['answer']): string {
  if (typeof answer === 'object') return `open("${answer.file}", "wb").write(response.content)`;
  if (answer === 'none') return 'print(response.status_code)';
  return answer === 'json' ? 'print(response.json())' : 'print(response.text)';
}

/** A JSON value as Python writes it. */
function pythonValue(value: unknown): string {
  if (Array.isArray(value))
    return value.length === 0
      ? '[]'
      : `[\n${indented(value.map((one) => `${pythonValue(one)},`))}\n]`;
  if (typeof value === 'object' && value !== null) {
    const rows = Object.entries(value).map(
      ([name, of]) => `${JSON.stringify(name)}: ${pythonValue(of)},`,
    );
    return rows.length === 0 ? '{}' : `{\n${indented(rows)}\n}`;
  }
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return JSON.stringify(value);
}

function indented(parts: readonly string[]): string {
  return parts
    .join('\n')
    .split('\n')
    .map((line) => `${INDENT}${line}`)
    .join('\n');
}
