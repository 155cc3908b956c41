import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { withFinalErrorHandler } from '../../src/platform/http-server/responses/final-error-handler.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';

/** What a stack trace, a statement or a path of this machine looks like. */
const INSIDE = /\bat |\.[jt]s\b|node_modules|node:|Error\b|SELECT|INSERT|relation|broken_\w+/;
const INTERNAL_ERROR = {
  message: 'An unexpected error occurred.',
  type: 'server_error',
  param: null,
  code: 'internal_error',
};
/** A middleware or, with four parameters, a handler of errors. */
interface Layer {
  handle: (...of: readonly unknown[]) => unknown;
}
/** Tables without which a request fails inside, by the request. */
const BROKEN: Readonly<Record<string, (account: TestAccount) => Promise<Answer>>> = {
  execution: ({ headers }) => send(`${gateway.url}/v1/executions`, { headers }),
  task: ({ headers }) => send(`${gateway.url}/v1/tasks`, { headers }),
  operator_action: () =>
    postJson(`${gateway.url}/admin/accounts`, { authorization: `Bearer ${ADMIN_TOKEN}` }, {}),
};

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
});
afterAll(() => gateway.stop());

describe('a request that fails inside the gateway', () => {
  it.each(Object.entries(BROKEN))(
    'because of %s is answered 500 in the envelope, and nothing tells what is inside',
    async (table, request) => {
      await gateway.dataSource.query(`ALTER TABLE ${table} RENAME TO broken_${table}`);
      try {
        const answer = await request(account);
        expect(answer.status).toBe(500);
        expect(errorOf(answer)).toEqual(INTERNAL_ERROR);
        expect(JSON.stringify([...answer.headers])).not.toMatch(INSIDE);
      } finally {
        await gateway.dataSource.query(`ALTER TABLE broken_${table} RENAME TO ${table}`);
      }
    },
  );

  it.each<[string, (layer: Layer, index: number) => boolean]>([
    ['before it has an id', (_layer, index) => index === 0],
    ['and then in the error filter', ({ handle }, index) => index === 0 || handle.length === 4],
  ])('%s is answered 500 in the envelope', async (_when, fails) => {
    const express = gateway.app.getHttpAdapter().getInstance();
    const { stack } = (express as unknown as { router: { stack: Layer[] } }).router;
    const broken = stack.filter(fails).map((layer) => ({ layer, handle: layer.handle }));
    const fail = (): never => {
      throw new TypeError('broken_inside');
    };
    for (const { layer, handle } of broken)
      layer.handle = handle.length === 4 ? (_error, _request, _response, _next) => fail() : fail;
    const answer = await send(`${gateway.url}/v1/models`, { headers: account.headers });
    for (const { layer, handle } of broken) layer.handle = handle;
    expect(broken.length).toBeGreaterThan(0);
    expect(answer.status).toBe(500);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.json).toEqual({ error: INTERNAL_ERROR });
  });
});

describe('an error that nothing answered', () => {
  it('is logged with what failed', () => {
    const log = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    const request = new IncomingMessage(new Socket());
    const listen = withFinalErrorHandler((_request, _response, unanswered) => {
      unanswered(new TypeError('broken_inside'));
    });
    listen(request, new ServerResponse(request));
    expect(log.mock.calls).toEqual([[expect.stringMatching(/TypeError: broken_inside[^]*\bat /)]]);
    log.mockRestore();
  });
});

describe('a request that a parser refuses', () => {
  it.each<[string, () => Promise<Answer>]>([
    ['JSON', () => postJson(`${gateway.url}/v1/audio/speech`, account.headers, '{"a":')],
    ['a query', () => send(`${gateway.url}/v1/tasks?limit[]=1`, { headers: account.headers })],
    [
      'a form',
      () =>
        send(`${gateway.url}/v1/audio/isolation`, {
          method: 'POST',
          headers: { ...account.headers, 'content-type': 'multipart/form-data; boundary=B' },
          body: '--B\r\nbroken_part',
        }),
    ],
  ])('because of %s is told its fault, and nothing of what is inside', async (_what, request) => {
    const answer = await request();
    expect([answer.status, errorOf(answer).type]).toEqual([400, 'invalid_request_error']);
    expect(answer.bytes.toString()).not.toMatch(INSIDE);
  });

  it('does not affect the gateway', async () => {
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, HELLO);
    expect(answer.status).toBe(200);
  });
});
