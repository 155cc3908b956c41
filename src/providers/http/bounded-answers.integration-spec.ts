import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { StubUpstream } from '../../../test/support/stub-upstream.js';
import { SystemClock } from '../../common/time/clock.js';
import { HttpTransport } from './http-transport.js';
import type { ProviderError } from './provider-error.js';
import { ProviderHttp } from './provider-http.js';

const LIMIT_BYTES = 100_000;
const LIMIT_VALUES = 10_000;
const ERROR_LIMIT_BYTES = 65_536;
const CHUNK = Buffer.alloc(10_000, 'a');
/** Far more than the limits and what is under way between the two. */
const ENDLESS_BYTES = 50_000_000;

let stub: StubUpstream;
let transport: HttpTransport;
let http: ProviderHttp;

beforeAll(() => {
  transport = new HttpTransport(60_000);
});
beforeEach(async () => {
  stub = await StubUpstream.start();
  http = httpOver(transport);
});
afterEach(() => stub.stop());
afterAll(() => transport.close());

function httpOver(ownTransport: HttpTransport): ProviderHttp {
  const access = {
    id: 'acme',
    baseUrl: stub.url,
    apiKey: 'k',
    transport: ownTransport,
    clock: new SystemClock(),
  };
  return new ProviderHttp(access, {
    headers: {},
    ownErrors: (_status, body) => ({ code: body === null ? 'unread' : 'read' }),
  });
}

/** `taken`, or the code of the refusal. */
const ask = (over = http) =>
  over
    .requestJson(
      {
        method: 'GET',
        path: '/',
        timeout: 'poll',
        context: { signal: new AbortController().signal },
      },
      LIMIT_BYTES,
      () => 'taken',
      LIMIT_VALUES,
    )
    .catch((error: unknown) => (error as ProviderError).upstreamCode);
/** A JSON object of so many bytes. */
const objectOf = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`;

/** Sends without end; the result is the number of bytes that were sent before the gateway closed the connection. */
function endless(status: number): Promise<number> {
  return new Promise((resolve) => {
    stub.reply = (response: ServerResponse) => {
      let bytes = 0;
      response.writeHead(status).write('{"a":"');
      const send = (): void => {
        while (bytes < ENDLESS_BYTES) {
          bytes += CHUNK.length;
          if (!response.write(CHUNK)) return;
        }
        response.end('"}');
      };
      response.on('drain', send).once('close', () => {
        resolve(bytes);
      });
      send();
    };
  });
}

describe('the answer of a provider', () => {
  it('is taken up to its limit, and not a byte above', async () => {
    stub.reply = (response) => response.end(objectOf(LIMIT_BYTES));
    expect(await ask()).toBe('taken');
    stub.reply = (response) => response.end(objectOf(LIMIT_BYTES + 1));
    expect(await ask()).toBe('bad_json');
  });

  it('is refused where it nests so deep that it could not be written again', async () => {
    const nested = (levels: number): string => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    stub.reply = (response) => response.end(nested(60));
    expect(await ask()).toBe('taken');
    stub.reply = (response) => response.end(nested(20_000));
    expect(await ask()).toBe('bad_json');
  });

  it('is refused where it has more values than any answer, before they are made', async () => {
    const listed = (objects: number): string => `{"a":[${'{},'.repeat(objects)}0]}`;
    stub.reply = (response) => response.end(listed(LIMIT_VALUES / 2 - 1));
    expect(await ask()).toBe('taken');
    stub.reply = (response) => response.end(listed(LIMIT_VALUES / 2));
    expect(await ask()).toBe('bad_json');
    stub.reply = (response) => response.end(JSON.stringify({ a: ',{['.repeat(LIMIT_VALUES) }));
    expect(await ask()).toBe('taken');
  });

  it('of a poll that never ends, however slowly it flows, is cut off', async () => {
    const hurried = new HttpTransport(200);
    stub.reply = (response) => {
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => {
        clearInterval(timer);
      });
    };
    expect(await ask(httpOver(hurried))).toBe('bad_json');
    await hurried.close();
  });

  it('that is announced without end never comes', async () => {
    const hurried = new HttpTransport(200);
    stub.reply = (response) => {
      const timer = setInterval(() => {
        response.writeProcessing();
      }, 50);
      response.on('close', () => {
        clearInterval(timer);
      });
    };
    expect(await ask(httpOver(hurried))).toBe('ERR_ANNOUNCED_ONLY');
    await hurried.close();
  });

  it('that never ends is cut off at its limit', async () => {
    const sent = endless(200);
    expect(await ask()).toBe('bad_json');
    expect(await sent).toBeLessThan(ENDLESS_BYTES);
  });

  it('of an error is not read where it nests so deep that looking for its words would use up the stack', async () => {
    const nested = (levels: number): string =>
      `{"error":{"code":${'['.repeat(levels)}${']'.repeat(levels)}}}`;
    stub.reply = (response) => response.writeHead(500).end(nested(60));
    expect(await ask()).toBe('read');
    stub.reply = (response) => response.writeHead(500).end(nested(20_000));
    expect(await ask()).toBe('unread');
  });

  it('of an error is read up to 64 kB, and not a byte above', async () => {
    stub.reply = (response) => response.writeHead(500).end(objectOf(ERROR_LIMIT_BYTES));
    expect(await ask()).toBe('read');
    stub.reply = (response) => response.writeHead(500).end(objectOf(ERROR_LIMIT_BYTES + 1));
    expect(await ask()).toBe('unread');
  });

  it('of an error that never ends is cut off', async () => {
    const sent = endless(500);
    expect(await ask()).toBe('unread');
    expect(await sent).toBeLessThan(ENDLESS_BYTES);
  });

  it.each(['[]', '"text"', '7', 'null', '{"a":1', ''])(
    '%j is no JSON object and is refused',
    async (text) => {
      stub.reply = (response) => response.end(text);
      expect(await ask()).toBe('bad_json');
    },
  );
});
