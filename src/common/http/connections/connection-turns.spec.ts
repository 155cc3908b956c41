import { once } from 'node:events';
import {
  createServer,
  IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { answerClientErrors } from './client-error.js';
import { CONNECTION_LIMITS, ConnectionTurns } from './connection-turns.js';

const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const LIMITS = {
  maxWaiting: 5,
  maxWaitingCharacters: 10_000,
  checkMs: 40,
  maxSilentChecks: 25,
  maxIdleChecks: 50,
};
const PATIENCE_MS = 20_000;
/** More bytes than any kernel buffers for a reader. */
const LARGE = Buffer.alloc(60_000_000);

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

/** A listener that never answers, and what the server knows: the heads that it read, and the calls. */
class Unanswered {
  read = 0;
  begun = 0;
  readonly listener: RequestListener = () => {
    this.begun++;
  };
  readonly classes: ServerOptions;

  constructor() {
    const countHead = (): void => {
      this.read++;
    };
    class Counted extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket);
        countHead();
      }
    }
    this.classes = { IncomingMessage: Counted };
  }
}

async function serve(
  listener: RequestListener,
  classes: ServerOptions = {},
  limits = LIMITS,
): Promise<Socket> {
  const turns = new ConnectionTurns(listener, limits);
  const started = createServer(classes, turns.take);
  answerClientErrors(started);
  started.listen(0, '127.0.0.1');
  server = started;
  turns.watch(started);
  await once(started, 'listening');
  return connect((started.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
}

async function until(fact: () => boolean): Promise<void> {
  for (let waitedMs = 0; !fact() && waitedMs < PATIENCE_MS; waitedMs += 10) await sleep(10);
  expect(fact()).toBe(true);
}

it('by default 4 requests may wait, 64 kB of heads, readers for 30 s and connections without a request for 80 s', () => {
  const { checkMs, maxSilentChecks, maxIdleChecks, ...waiting } = CONNECTION_LIMITS;
  expect(waiting).toEqual({ maxWaiting: 4, maxWaitingCharacters: 65_536 });
  expect([checkMs * maxSilentChecks, checkMs * maxIdleChecks]).toEqual([30_000, 80_000]);
});

it('requests of many connections that come in one turn of the event loop begin 16 at a time', () => {
  let begun = 0;
  const turns = new ConnectionTurns(() => begun++, LIMITS);
  for (let connection = 0; connection < 40; connection++) {
    const request = new IncomingMessage(new Socket());
    turns.take(request, new ServerResponse(request));
  }
  expect(begun).toBe(16);
});

describe('requests that a client sends ahead', () => {
  it('are served one after the other, in order', async () => {
    let atOnce = 0;
    let most = 0;
    let served = 0;
    const client = await serve((_request, response) => {
      most = Math.max(most, ++atOnce);
      setTimeout(() => response.end(`answer ${served++};`), 5);
      response.once('finish', () => atOnce--);
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET.repeat(6));
    await until(() => text.includes('answer 5;'));
    expect(most).toBe(1);
    expect([...text.matchAll(/answer (\d)/g)].map(([, index]) => index)).toEqual([...'012345']);
  });

  it('are not served behind an answer that closes the connection', async () => {
    const served: string[] = [];
    const client = await serve(({ url = '' }, response) => {
      served.push(url);
      response.writeHead(400, { Connection: 'close' }).end('refused');
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET + GET.replace('/', '/behind').repeat(3));
    await until(() => client.closed);
    expect(text).toContain('refused');
    expect(served).toEqual(['/']);
  });

  it.each([0, 1, 2_000])(
    'are answered within the bound, the last with Connection: close, when %d too many come',
    async (more) => {
      let served = 0;
      const client = await serve((_request, response) => {
        setTimeout(() => response.end(`answer ${served++};`), 5);
      });
      let text = '';
      client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
      client.write(GET.repeat(1 + LIMITS.maxWaiting + more));
      await until(() => text.includes(`answer ${LIMITS.maxWaiting};`));
      const answers = text.split('HTTP/1.1 200').slice(1);
      expect(answers).toHaveLength(1 + LIMITS.maxWaiting);
      const isLast = answers.map((answer) => /^Connection: close/im.test(answer));
      expect(isLast).toEqual([...Array<boolean>(LIMITS.maxWaiting).fill(false), more > 0]);
      if (more > 0) await until(() => client.closed);
    },
  );

  it('are answered within the bound when the rest comes later, even if it is no HTTP', async () => {
    const answers: (() => void)[] = [];
    const client = await serve((_request, response) => {
      answers.push(() => response.end('answer;'));
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET.repeat(1 + LIMITS.maxWaiting));
    await until(() => answers.length === 1);
    for (const rest of [GET, 'garbage\r\n\r\n', `POST ${GET}`, GET]) {
      client.write(rest);
      await sleep(20);
    }
    for (let count = 1; count <= 1 + LIMITS.maxWaiting; count++) {
      await until(() => answers.length === count);
      answers.at(-1)?.();
    }
    await until(() => client.closed);
    expect(text.split('answer;')).toHaveLength(2 + LIMITS.maxWaiting);
  });

  it('close the connection after an answer that had begun when one too many came', async () => {
    let finish: (() => void) | undefined;
    const turns = { ...LIMITS, maxWaiting: 0 };
    const client = await serve(
      (_request, response) => {
        response.write('begun, ');
        finish = () => response.end('whole');
      },
      {},
      turns,
    );
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET);
    await until(() => text.includes('begun'));
    client.write(GET.repeat(2));
    await sleep(50);
    finish?.();
    await until(() => client.closed);
    expect(text).toMatch(/whole\r\n0\r\n\r\n$/);
  });

  it('are not even read when too many wait', async () => {
    const unanswered = new Unanswered();
    const client = await serve(unanswered.listener, unanswered.classes);
    client.resume().write(GET.repeat(2_000));
    await until(() => unanswered.begun === 1);
    await sleep(100);
    // The running one, those that wait, one too many, and the one at which the parser stops.
    expect(unanswered.read).toBeLessThanOrEqual(1 + LIMITS.maxWaiting + 2);
    expect(unanswered.begun).toBe(1);
  });

  it('are answered as far as their heads are not too large together', async () => {
    const served: string[] = [];
    const client = await serve(({ url = '' }, response) => {
      served.push(url.slice(-1));
      setTimeout(() => response.end('answer;'), 5);
    });
    client.resume();
    const long = (name: string) => GET.replace('/', `/${'a'.repeat(4_000)}${name}`);
    client.write(['1', '2', '3', '4'].map(long).join(''));
    await until(() => client.closed);
    expect(served).toEqual(['1', '2', '3']);
  });

  it('are dropped when the client leaves, and the running one is told', async () => {
    let begun = 0;
    let gone = 0;
    const client = await serve((_request, response) => {
      begun++;
      response.once('close', () => gone++);
    });
    client.write(GET.repeat(5));
    await until(() => begun === 1);
    client.destroy();
    await until(() => gone === 1);
    await sleep(50);
    expect(begun).toBe(1);
  });
});

describe('the reader of an answer', () => {
  it('is cut off when it takes nothing for long', async () => {
    let cut = false;
    const client = await serve((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(GET);
    await until(() => cut);
  });

  it('is cut off although it sends byte after byte', async () => {
    let cut = false;
    const client = await serve((_request, response) => {
      response.once('close', () => (cut = true));
      response.end(LARGE);
    });
    client.pause().write(`${GET}GET / HTTP/1.1\r\nX: `);
    const sending = setInterval(() => client.write('a'), 10);
    await until(() => cut);
    clearInterval(sending);
  });

  it('is cut off when it sends line ends instead of a next request', async () => {
    let cut = false;
    const client = await serve((request, response) => {
      request.socket.once('close', () => (cut = true));
      response.end('short');
    });
    client.pause().write(GET);
    const sending = setInterval(() => client.write('\r\n'), 10);
    await until(() => cut);
    clearInterval(sending);
  });

  it('keeps its connection while it sends a request from time to time', async () => {
    const client = await serve((_request, response) => response.end('an answer;'));
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    const began = performance.now();
    let sent = 0;
    while (performance.now() - began < 2 * LIMITS.checkMs * LIMITS.maxIdleChecks) {
      client.write(GET);
      sent += 1;
      await until(() => text.split('an answer;').length > sent);
      await sleep(100);
    }
    expect(client.closed).toBe(false);
  });

  it('has no time limit while it reads something', async () => {
    const client = await serve((_request, response) => response.end(LARGE));
    let bytes = 0;
    const began = performance.now();
    client.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      client.pause();
      setTimeout(() => client.resume(), 1);
    });
    client.write(GET);
    await until(() => bytes > LARGE.length);
    expect(performance.now() - began).toBeGreaterThan(LIMITS.checkMs * LIMITS.maxSilentChecks);
  });

  it('is not cut off while its answer is still being made', async () => {
    const patienceMs = LIMITS.checkMs * LIMITS.maxSilentChecks * 3;
    const client = await serve((_request, response) => {
      response.write('first');
      setTimeout(() => response.end('last'), patienceMs);
    });
    let text = '';
    client.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
    client.write(GET);
    await until(() => text.includes('last'));
  });
});
