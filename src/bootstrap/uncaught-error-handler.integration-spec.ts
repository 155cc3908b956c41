import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { MINUTE_MS } from '../common/time/spans.js';
import { withRequestContext } from '../platform/http-server/connections/request-context.js';
import { SystemClock } from '../common/time/clock.js';
import { UncaughtErrorHandler, type UncaughtErrorActions } from './uncaught-error-handler.js';

class HandMovedClock extends SystemClock {
  ms = 0;

  override nowMs(): number {
    return this.ms;
  }
}

function net(actions: Partial<UncaughtErrorActions> = {}) {
  const lines: string[] = [];
  const clock = new HandMovedClock();
  const sick: number[] = [];
  const caught = new UncaughtErrorHandler(
    pino({}, { write: (line: string) => lines.push(line) }),
    clock,
    {
      endExchange: () => undefined,
      onSick: () => sick.push(clock.ms),
      ...actions,
    },
  );
  return { caught, clock, lines, sick };
}

/** An error that is always thrown at the same place, with a new message each time. */
const stray = (id: number) => new Error(`stray ${id}`);

describe('UncaughtErrorHandler', () => {
  it('ends the process once when the same error came ten times in a minute, whatever its message', () => {
    const { caught, sick } = net();
    for (let count = 0; count < 9; count++) caught.handle(stray(count));
    expect(sick).toEqual([]);
    for (let count = 0; count < 5; count++) caught.handle(stray(count));
    expect(sick).toEqual([0]);
  });

  it('serves on when the same error came a hundred times in a minute, each time in a request', async () => {
    const { caught, sick, lines } = net();
    const server = createServer(
      withRequestContext((_request, response) => {
        for (let count = 0; count < 100; count++) caught.handle(stray(count));
        response.end();
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect(lines).toHaveLength(100);
    expect(sick).toEqual([]);
  });

  it('serves on when the same error comes nine times a minute for ever', () => {
    const { caught, clock, sick } = net();
    for (let count = 0; count < 200; count++) {
      clock.ms += MINUTE_MS / 9 + 1;
      caught.handle(stray(count));
    }
    expect(sick).toEqual([]);
  });

  it('serves on when ten errors in a minute are different ones', () => {
    const { caught, sick } = net();
    const kinds = Array.from({ length: 12 }, (_, index) => {
      const error = new Error('stray');
      error.stack = `Error: stray\n    at place${index} (file.js:${index}:1)`;
      return error;
    });
    for (const error of kinds) caught.handle(error);
    expect(sick).toEqual([]);
  });

  it('handles a thrown value that is not an error', () => {
    const { caught, lines } = net();
    for (const thrown of [undefined, null, 'text', 42, {}]) caught.handle(thrown);
    expect(lines).toHaveLength(5);
  });

  it('logs the execution id of the request that the error belongs to, and ends that request', async () => {
    const executionId = '0198c0de-0000-7000-8000-000000000001';
    const { caught, lines } = net({
      endExchange: (_error, { response }) => {
        response.statusCode = 500;
        response.end();
      },
    });
    const server = createServer(
      withRequestContext((request, response) => {
        Object.assign(request, { executionId });
        void nextTurn().then(() => {
          caught.handle(stray(1));
          if (!response.writableEnded) response.end('served on');
        });
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { status } = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.close();
    expect(status).toBe(500);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      execution_id: `exec_${executionId.replaceAll('-', '')}`,
      cause: { message: 'stray 1' },
    });
  });

  it('survives a failure of ending the request', async () => {
    const { caught } = net({
      endExchange: () => {
        throw new Error('cannot');
      },
    });
    const server = createServer(
      withRequestContext((request, response) => {
        Object.assign(request, { executionId: '0198c0de-0000-7000-8000-000000000001' });
        caught.handle(stray(1));
        if (!response.destroyed) response.end('served on');
      }),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const asked = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    await expect(asked).rejects.toThrow();
    server.close();
  });
});
