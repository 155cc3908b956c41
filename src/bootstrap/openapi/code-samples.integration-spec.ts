import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { samplesOf } from './code-samples.js';

const run = promisify(execFile);
const SECRET = 'what no call may send';
let folder: string;
let url: string;
const sent: string[] = [];
const server = createServer((request, response) => {
  text(request).then(
    (body) => {
      sent.push(body);
      response.end('{}');
    },
    () => response.destroy(),
  );
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'samples-'));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/form`;
});
afterAll(async () => {
  await new Promise((done) => server.close(done));
  await rm(folder, { recursive: true, force: true });
});

describe('the curl of a form', () => {
  it('sends texts as they stand, also those that curl would take for files or types', async () => {
    await writeFile(join(folder, 'secret.txt'), SECRET);
    const odd = 'a "b\\c";type=html,.mp3';
    await writeFile(join(folder, odd), 'the sound');
    const fields = { text: '@secret.txt', prompt: '<secret.txt', note: 'a;type=text/html' };
    const [curl] = samplesOf({
      ...{ method: 'POST', url, headers: {}, answer: 'json' },
      body: { kind: 'form', fields, files: { file: odd } },
    });
    await run('bash', ['-c', curl?.source ?? ''], { cwd: folder });
    const [body = ''] = sent;
    expect(body).not.toContain(SECRET);
    expect(body).not.toContain('Content-Type: text/html');
    for (const value of [...Object.values(fields), 'the sound']) {
      expect(body).toContain(`\r\n\r\n${value}\r\n`);
    }
  });
});
