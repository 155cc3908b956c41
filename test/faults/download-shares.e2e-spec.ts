import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { type Answer, errorOf, send } from '../support/http-answer.js';
import { until } from '../support/until.js';

const AT_ONCE = 2;

let files: Server;
let url: string;
let gateway: TestGateway;
/** Paths of the files that were asked for. None of them ever ends. */
const asked: string[] = [];

beforeAll(async () => {
  files = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).write('x');
  });
  await once(files.listen(0, '127.0.0.1'), 'listening');
  const { port } = files.address() as AddressInfo;
  url = `http://127.0.0.1:${port}`;
  gateway = await startTestGateway({
    EGRESS_ALLOW: `127.0.0.1:${port}`,
    MAX_UPLOADS_PER_ACCOUNT: String(AT_ONCE),
  });
});
afterAll(async () => {
  files.closeAllConnections();
  files.close();
  await gateway.expectCleanBooks();
  await gateway.stop();
});

function transcribed({ headers }: TestAccount, path: string): Promise<Answer> {
  const body = new FormData();
  body.set('model', 'aud-transcribe-v2');
  body.set('audio_url', `${url}/${path}`);
  const { authorization } = headers;
  return send(`${gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization },
    body,
  });
}

it('downloads of one account at once are bounded: 429 for it alone', async () => {
  const [greedy, other] = [await gateway.account(), await gateway.account()];
  const answers = ['a', 'b'].map((path) => transcribed(greedy, path));
  await until(() => asked.length === AT_ONCE);
  const refused = await transcribed(greedy, 'c');
  expect([refused.status, errorOf(refused).code]).toEqual([429, 'rate_limit_exceeded']);
  answers.push(transcribed(other, 'd'));
  await until(() => asked.length > AT_ONCE);
  expect([...asked].sort()).toEqual(['/a', '/b', '/d']);
  files.closeAllConnections();
  for (const answer of answers) expect(errorOf(await answer).code).toBe('audio_download_failed');
});
