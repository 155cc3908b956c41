import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import express, { type NextFunction, type Request, type Response } from 'express';
import { GatewayError } from '../../../common/errors/gateway-error.js';
import { readJson } from './json-body.js';
import { drainRejectedBody } from './drain-rejected-body.js';

const LIMIT = 3_000_000;
const json = { 'content-type': 'application/json' };
let server: Server;
let port: number;

beforeAll(async () => {
  const app = express();
  app.use(async (request, response) => {
    const { raw, value } = await readJson(request, { bytes: LIMIT, values: 10_000 });
    response.json({ body: value, rawLength: raw.length });
  });
  app.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    drainRejectedBody(request);
    if (!(error instanceof GatewayError)) {
      next(error);
      return;
    }
    response.status(error.status).json(error.toEnvelope());
  });
  server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});

afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function post(
  body: string | Uint8Array<ArrayBuffer> | undefined,
  headers: Record<string, string> = json,
) {
  const init = { method: 'POST', headers, ...(body !== undefined && { body }) };
  const answer = await fetch(`http://127.0.0.1:${port}/`, init);
  const {
    body: value,
    rawLength,
    error,
  } = (await answer.json()) as {
    body?: unknown;
    rawLength?: number;
    error?: { code: string; param: string | null };
  };
  return { status: answer.status, value, rawLength, code: error?.code, param: error?.param };
}

/** Sends the text unchanged and returns everything that arrives until the server closes the connection. */
async function exchange(text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

describe('readJson', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])('reads a body of type %s and keeps its bytes (CONV-03)', async (type) => {
    const body = Buffer.from('\ufeff{"a":"é"}');

    expect(await post(body, { 'content-type': type })).toMatchObject({
      status: 200,
      value: { a: 'é' },
      rawLength: body.length,
    });
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'refuses a body of type %s',
    async (type) => {
      expect(await post('{}', { 'content-type': type })).toMatchObject({
        status: 400,
        code: 'invalid_content_type',
        param: 'Content-Type',
      });
    },
  );

  it('refuses another charset, and a body without a type', async () => {
    const latin = { 'content-type': 'application/json; charset=latin1' };

    expect(await post('{}', latin)).toMatchObject({ code: 'invalid_content_type' });
    expect(await post(Buffer.from('{}'), {})).toMatchObject({ code: 'invalid_content_type' });
  });

  it.each([undefined, '', '{', '{"a":}', "{'a':1}", '{"a":1}}', 'NaN', '[1,]'])(
    'refuses %j, which is not JSON, without naming a field (CONV-12)',
    async (body) => {
      expect(await post(body)).toMatchObject({ status: 400, code: 'invalid_request', param: null });
    },
  );

  it('refuses invalid UTF-8 and compressed bodies', async () => {
    const zipped = new Uint8Array(gzipSync('{}'));

    expect(await post(Uint8Array.of(0x22, 0xff, 0x22))).toMatchObject({ code: 'invalid_request' });
    expect(await post(zipped, { ...json, 'content-encoding': 'gzip' })).toMatchObject({
      code: 'invalid_request',
      param: 'Content-Encoding',
    });
  });

  it('accepts 32 levels and 10,000 values, not more', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1));

    expect(await post(nested(32))).toMatchObject({ status: 200 });
    expect(await post(nested(33))).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await post('['.repeat(1_000_000))).toMatchObject({ status: 400 });
    expect(await post(list(10_000))).toMatchObject({ status: 200 });
    expect(await post(list(10_001))).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await post(JSON.stringify(['[[{{,,"\\'.repeat(20_000)]))).toMatchObject({ status: 200 });
  });

  it('decodes a body of several slices whose characters lie across the cuts', async () => {
    const text = `"\\${'a😀é\\"'.repeat(250_000)}`;
    const body = JSON.stringify({ text });

    expect(await post(body)).toMatchObject({ status: 200, value: { text } });
  });

  it('answers 413 to a body over the limit, declared or found while reading (ERR-38)', async () => {
    const refused = { status: 413, code: 'request_too_large' };

    expect(await post(`"${'a'.repeat(LIMIT - 2)}"`)).toMatchObject({ status: 200 });
    expect(await post(`"${'a'.repeat(LIMIT - 1)}"`)).toMatchObject(refused);
    const chunk = 'a'.repeat(100_000);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';
    const chunked = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(31);
    expect(await exchange(`${head}Transfer-Encoding: chunked\r\n\r\n${chunked}`)).toMatch(
      /^HTTP\/1.1 413 [^]*request_too_large/,
    );
  });

  it('disconnects a client that keeps sending a rejected body after the response', async () => {
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n';

    expect(await exchange(`${head}Content-Length: 99999999\r\n\r\nabc`)).toMatch(/^HTTP\/1.1 413 /);
  });

  it('refuses at once what was cut before it is read', async () => {
    const waiting = createServer((request) => {
      request.on('error', () => undefined).on('close', () => waiting.emit('cut', request));
    }).listen(0, '127.0.0.1');
    await once(waiting, 'listening');
    const client = connect((waiting.address() as AddressInfo).port, '127.0.0.1');
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n');
    client.write('Content-Length: 9\r\n\r\n{');
    await once(waiting, 'request');
    client.destroy();
    const [request] = (await once(waiting, 'cut')) as [IncomingMessage];
    waiting.close();

    await expect(readJson(request, { bytes: LIMIT, values: 10_000 })).rejects.toThrow(
      'The body was cut short.',
    );
  });
});
