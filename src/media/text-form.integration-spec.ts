import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';
import { drainRejectedBody } from '../platform/http-server/request-body/drain-rejected-body.js';
import { readTextForm } from './text-form.js';

const LIMIT_BYTES = 100_000;
let server: Server;
let base: string;
let outcome: (text: string) => void = () => undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    void readTextForm(request as Request, LIMIT_BYTES)
      .then(
        (form) => JSON.stringify(form),
        (error: unknown) =>
          error instanceof GatewayError ? `${error.code} ${String(error.param)}` : String(error),
      )
      .then((text) => {
        outcome(text);
        drainRejectedBody(request);
        response.end(text);
      });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const send = async (
  body: FormData | string | Buffer<ArrayBuffer>,
  type?: string,
): Promise<string> => {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  return (await fetch(base, { method: 'POST', body, headers })).text();
};

const TYPE = 'multipart/form-data; boundary=B';
const END = Buffer.from('\r\n--B--\r\n');
const part = (charset: string): string =>
  `--B\r\nContent-Disposition: form-data; name="prompt"\r\nContent-Type: text/plain${charset}\r\n\r\n`;

function form(...parts: readonly (readonly [string, string | Blob])[]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, 'a.png');
  }
  return data;
}

describe('a form of text parts', () => {
  it('parses text fields; names with brackets and repeated names become arrays', async () => {
    const sent = form(['a', '1'], ['b[]', 'x'], ['c', 'y'], ['c', 'Zé'], ['__proto__', 'p']);
    expect(await send(sent)).toBe('{"a":"1","b":["x"],"c":["y","Zé"],"__proto__":"p"}');
  });

  it.each([
    ['first', form(['input_reference', new Blob(['x'.repeat(500_000)])], ['a', '1'])],
    ['last', form(['a', '1'], ['input_reference', new Blob(['x'])])],
  ])('is refused with a file part that comes %s', async (_place, sent) => {
    expect(await send(sent)).toBe('invalid_request input_reference');
  });

  it.each([
    'Content-Type: text/plain',
    'Content-Disposition: attachment; name="b"',
    'Content-Disposition: form-data; name="b',
  ])('is rejected with a part whose header is %j', async (head) => {
    const parts = `--B\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--B\r\n${head}\r\n\r\n2\r\n`;
    const type = 'multipart/form-data; boundary=B';
    expect(await send(`${parts}--B--\r\n`, type)).toBe('invalid_multipart null');
  });

  it('is rejected above its limit', async () => {
    expect(await send(form(['a', 'x'.repeat(99_000)]))).toContain('"a":"xxx');
    expect(await send(form(['a', 'x'.repeat(100_001)]))).toBe('request_too_large null');
  });

  it('is rejected with too many parts', async () => {
    const many = Array.from({ length: 65 }, (_, index) => [`f${index}`, 'x'] as const);
    expect(await send(form(...many))).toBe('invalid_multipart null');
  });

  it.each([
    ['without a boundary', 'multipart/form-data'],
    ['that is no form', 'multipart/form-data; boundary=B'],
  ])('%s is refused', async (_what, type) => {
    expect(await send('nothing', type)).toMatch(/^invalid_multipart/);
  });

  it.each([
    ['text part without a name', 'Content-Disposition: form-data'],
    ['text part with an empty name', 'Content-Disposition: form-data; name=""'],
    ['file part without a name', 'Content-Disposition: form-data; filename="a.png"'],
    [
      'part in an unknown charset',
      'Content-Disposition: form-data; name="a"\r\nContent-Type: text/plain; charset=none',
    ],
  ])('is rejected with a %s', async (_what, head) => {
    const body = `--B\r\n${head}\r\n\r\nx\r\n--B--\r\n`;
    expect(await send(body, 'multipart/form-data; boundary=B')).toBe('invalid_multipart null');
  });

  it.each(['', '; charset=utf-8', '; charset=UTF8'])(
    'is rejected with invalid UTF-8 in a part of type text/plain%s',
    async (charset) => {
      const body = Buffer.concat([Buffer.from(part(charset)), Buffer.from([0xff]), END]);
      expect(await send(body, TYPE)).toBe('invalid_request prompt');
      const cut = Buffer.concat([Buffer.from(part(charset)), Buffer.from('é').subarray(0, 1), END]);
      expect(await send(cut, TYPE)).toBe('invalid_request prompt');
    },
  );

  it('may contain U+FFFD itself, and a charset of its own', async () => {
    const own = Buffer.concat([Buffer.from(part('')), Buffer.from('\u{fffd}é\u{fffd}'), END]);
    expect(await send(own, TYPE)).toBe('{"prompt":"\u{fffd}é\u{fffd}"}');
    const latin = Buffer.concat([
      Buffer.from(part('; charset=iso-8859-1')),
      Buffer.from('é', 'latin1'),
      END,
    ]);
    expect(await send(latin, TYPE)).toBe('{"prompt":"é"}');
  });

  it('that ends early is rejected', async () => {
    const told = new Promise<string>((resolve) => (outcome = resolve));
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n';
    const part = '--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nhal';
    socket.write(`${head}Content-Length: 500\r\n\r\n${part}`, () => socket.destroy());
    expect(await told).toMatch(/^invalid_multipart/);
  });
});
