import { IncomingMessage, type RequestListener, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  GET,
  received,
  serveInTurns,
  stopServing,
  TURN_LIMITS,
} from '../../../../test/support/turn-server.js';
import { until } from '../../../../test/support/until.js';

/** More bytes than any kernel buffers for a reader. */
const LARGE = Buffer.alloc(10_000_000, 'a');

afterEach(stopServing);

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

describe('requests that a client sends ahead', () => {
  it('are served one after the other, in order', async () => {
    let atOnce = 0;
    let most = 0;
    let served = 0;
    const client = await serveInTurns((_request, response) => {
      most = Math.max(most, ++atOnce);
      setTimeout(() => response.end(`answer ${served++};`), 5);
      response.once('finish', () => atOnce--);
    });
    const text = received(client);
    client.write(GET.repeat(6));
    await until(() => text().includes('answer 5;'));
    expect(most).toBe(1);
    expect([...text().matchAll(/answer (\d)/g)].map(([, index]) => index)).toEqual([...'012345']);
  });

  it('are not served behind an answer that closes the connection', async () => {
    const served: string[] = [];
    const client = await serveInTurns(({ url = '' }, response) => {
      served.push(url);
      response.writeHead(400, { Connection: 'close' }).end('refused');
    });
    const text = received(client);
    client.write(GET + GET.replace('/', '/behind').repeat(3));
    await until(() => client.closed);
    expect(text()).toContain('refused');
    expect(served).toEqual(['/']);
  });

  it.each([0, 1, 2_000])(
    'are answered within the bound, the last with Connection: close, when %d too many come',
    async (more) => {
      let served = 0;
      const client = await serveInTurns((_request, response) => {
        setTimeout(() => response.end(`answer ${served++};`), 5);
      });
      const text = received(client);
      client.write(GET.repeat(1 + TURN_LIMITS.maxWaiting + more));
      await until(() => text().includes(`answer ${TURN_LIMITS.maxWaiting};`));
      const answers = text().split('HTTP/1.1 200').slice(1);
      expect(answers).toHaveLength(1 + TURN_LIMITS.maxWaiting);
      const isLast = answers.map((answer) => /^Connection: close/im.test(answer));
      expect(isLast).toEqual([...Array<boolean>(TURN_LIMITS.maxWaiting).fill(false), more > 0]);
      if (more > 0) await until(() => client.closed);
    },
  );

  it('are answered within the bound when the rest comes later, even if it is no HTTP', async () => {
    const answers: (() => void)[] = [];
    const client = await serveInTurns((_request, response) => {
      answers.push(() => response.end('answer;'));
    });
    const text = received(client);
    client.write(GET.repeat(1 + TURN_LIMITS.maxWaiting));
    await until(() => answers.length === 1);
    for (const rest of [GET, 'garbage\r\n\r\n', `POST ${GET}`, GET]) {
      client.write(rest);
      await sleep(20);
    }
    for (let count = 1; count <= 1 + TURN_LIMITS.maxWaiting; count++) {
      await until(() => answers.length === count);
      answers.at(-1)?.();
    }
    await until(() => client.closed);
    expect(text().split('answer;')).toHaveLength(2 + TURN_LIMITS.maxWaiting);
  });

  it('close the connection after an answer that had begun when one too many came', async () => {
    let finish: (() => void) | undefined;
    const turns = { ...TURN_LIMITS, maxWaiting: 0 };
    const client = await serveInTurns(
      (_request, response) => {
        response.write('begun, ');
        finish = () => response.end('whole');
      },
      {},
      turns,
    );
    const text = received(client);
    client.write(GET);
    await until(() => text().includes('begun'));
    client.write(GET.repeat(2));
    await sleep(50);
    finish?.();
    await until(() => client.closed);
    expect(text()).toMatch(/whole\r\n0\r\n\r\n$/);
  });

  it('are not even read when too many wait', async () => {
    const unanswered = new Unanswered();
    const client = await serveInTurns(unanswered.listener, unanswered.classes);
    client.resume().write(GET.repeat(20_000));
    await until(() => unanswered.begun === 1);
    await sleep(100);
    // The running one, those that wait, one too many, and one whose end came in another read.
    expect(unanswered.read).toBeLessThanOrEqual(1 + TURN_LIMITS.maxWaiting + 2);
    expect(unanswered.begun).toBe(1);
  });

  it('are read once the client has read a long response', async () => {
    let served = 0;
    const client = await serveInTurns((_request, response) => {
      response.end(served++ === 0 ? LARGE : `answer ${served};`);
    });
    client.pause().write(GET.repeat(4));
    await until(() => served === 1);
    await sleep(50);
    const text = received(client.resume());
    await until(() => text().includes('answer 4;'));
  });

  it('are answered as far as their heads are not too large together', async () => {
    const served: string[] = [];
    const client = await serveInTurns(({ url = '' }, response) => {
      served.push(url.slice(-1));
      setTimeout(() => response.end('answer;'), 5);
    });
    client.resume();
    const long = (name: string) => GET.replace('/', `/${'a'.repeat(4_000)}${name}`);
    client.write(['1', '2', '3', '4'].map(long).join(''));
    await until(() => client.closed);
    expect(served).toEqual(['1', '2', '3']);
  });

  it('are dropped when the client disconnects, and the running one is notified', async () => {
    let begun = 0;
    let gone = 0;
    const client = await serveInTurns((_request, response) => {
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
