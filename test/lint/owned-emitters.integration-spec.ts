import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TIMEOUT_MS = 300_000;
const HEAD = `
import { fork, spawn } from 'node:child_process';
import cluster from 'node:cluster';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { get, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { PassThrough, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { connect as startTls } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { createGzip } from 'node:zlib';
import busboy from 'busboy';
import { map, of } from 'rxjs';
const ignore = (): void => undefined;
declare const known: Map<string, Socket>;
declare const source: Readable;
`;
/** Statements in an async function. Those with `// orphan` are refused, and no others. */
const STATEMENTS = `
createReadStream('a'); // orphan
createReadStream('a').on('error', ignore);
createReadStream('a').once('open', ignore).on('error', ignore).resume();
createReadStream('a').once('error', ignore); // orphan
await pipeline(createReadStream('a'), createGzip(), createWriteStream('b'));
for await (const chunk of createReadStream('a')) void chunk;
const a = createReadStream('a'); a.on('error', ignore); await pipeline(a, new PassThrough());
const b = createReadStream('a'); await open('b'); b.on('error', ignore); // orphan
const c = createReadStream('a'); await pipeline(c, new PassThrough());
const d = createReadStream('a'); setTimeout(() => d.on('error', ignore)); // orphan
const e = (await open('a')).createWriteStream(); // orphan
const f = request('http://a'); // orphan
const g = get('http://a').once('response', ignore); // orphan
request('http://a').on('error', ignore).end();
connect(1); // orphan
startTls({ port: 1 }); // orphan
connect(1).on('error', ignore);
spawn('a'); // orphan
fork('a').on('error', ignore);
cluster.fork(); // orphan
new Worker('a'); // orphan
createServer(); // orphan
new PassThrough(); // orphan
new Transform({}).on('error', ignore);
Readable.from([]); // orphan
busboy({ headers: {} }); // orphan
source.pipe(source as never); // orphan
source.on('end', ignore).once('close', ignore);
known.get('a')?.unref();
of(1).pipe(map((one) => one));
void [a, b, c, d, e, f, g];
`;

/** Lines of the text that the rule refuses. */
async function refused(code: string): Promise<readonly number[]> {
  // The name of a file that exists: types are known of files of the project only.
  const file = [
    '--stdin',
    '--stdin-filename',
    'src/platform/http-client/deadline.ts',
    '--format',
    'json',
  ];
  const child = spawn(process.execPath, ['node_modules/eslint/bin/eslint.js', ...file], {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(code);
  const [report] = JSON.parse(await text(child.stdout)) as [
    { messages: { ruleId: string; line: number }[] },
  ];
  const own = report.messages.filter(({ ruleId }) => ruleId === 'shim/owned-emitters');
  return own.map(({ line }) => line);
}

it(
  'a stream, socket, server, process or thread without an error listener from its birth is refused by ESLint',
  async () => {
    const code = `${HEAD}export async function f(): Promise<void> {${STATEMENTS}}\n`;
    const lines = code.split('\n');
    const orphans = lines.filter((line) => line.endsWith('// orphan'));
    expect((await refused(code)).map((line) => lines[line - 1])).toEqual(orphans);
  },
  TIMEOUT_MS,
);
