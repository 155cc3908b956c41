import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UPSTREAM_TIMEOUTS } from '../../../src/providers/http/upstream-timeouts.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { buyImage, DRAW, draw, IMAGE_PATH, imageOf } from '../../support/paid-images.js';
import { expectRefused } from '../../support/refusal.js';

let gateway: TestGateway;
let headers: Record<string, string>;
let accountId: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  ({ headers, accountId } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** Width and height of a PNG. */
function sizeOf(png: Buffer): string {
  expect(png.toString('latin1', 1, 4)).toBe('PNG');
  return `${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`;
}

const refused = (fields: object, param: string) =>
  expectRefused(gateway, accountId, () => draw(gateway, headers, fields), {
    status: 400,
    code: 'invalid_request',
    param,
  });

describe('POST /v1/images/generations', () => {
  it('answers one image in base64 (IMG-01)', async () => {
    const { answer } = await buyImage(gateway);
    expect(sizeOf(imageOf(answer))).toMatch(/^\d+x\d+$/);
    expect(Number.isInteger((answer.json as { created: number }).created)).toBe(true);
  });

  it.each([
    ['gen-image-2', 'IMG-02', 10_000n],
    ['gen-image-2-all', 'IMG-03', 20_000n],
    ['gen-image-2', 'BILL-25', 10_000n],
    ['gen-image-2-all', 'BILL-25', 20_000n],
  ])('charges an image of %s its whole price (%s)', async (model, _row, price) => {
    const { answer, charged, account } = await buyImage(gateway, { model });
    expect(charged).toBe(price);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(`${price}`);
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    const view = await send(`${gateway.url}/v1/executions/${id}`, { headers: account.headers });
    expect(view.json).toMatchObject({
      status: 'succeeded',
      model,
      endpoint: IMAGE_PATH,
      charged_microusd: `${price}`,
    });
  });

  it.each(['1024x1024', '1536x1024', '1024x1536'])('makes the size %s (IMG-09)', async (size) => {
    const { answer, body } = await buyImage(gateway, { size });
    expect(body.size).toBe(size);
    expect(sizeOf(imageOf(answer))).toBe(size);
  });

  it('sends the provider no size if none is requested (IMG-11)', async () => {
    const { body } = await buyImage(gateway);
    expect(body).toEqual({ model: 'gpt-image-2', prompt: DRAW.prompt, n: 1, quality: 'low' });
  });

  it('makes one image for one charge with or without n = 1 (IMG-12)', async () => {
    for (const fields of [{}, { n: 1 }, { n: null }, { n: 1.0 }]) {
      const { answer, charged } = await buyImage(gateway, fields);
      imageOf(answer);
      expect(charged).toBe(10_000n);
    }
  });

  it.each([
    ['response_format', 'b64_json'],
    ['size', 'auto'],
    ['quality', 'auto'],
    ['background', 'auto'],
    ['moderation', 'auto'],
    ['stream', false],
    ['partial_images', 0],
  ])(
    'accepts %s %j, which names what is done anyway, and does not forward it (IMG-14, G-02, G-94)',
    async (name, value) => {
      const { answer, body } = await buyImage(gateway, { [name]: value });
      imageOf(answer);
      const sent = { model: 'gpt-image-2', prompt: DRAW.prompt, n: 1, quality: 'low' };
      expect(body).toEqual(sent);
    },
  );

  it('requests the quality that each model is sold at, which a caller may name', async () => {
    for (const model of ['gen-image-2', 'gen-image-2-all']) {
      for (const quality of [undefined, 'auto', 'low']) {
        const { answer, body } = await buyImage(gateway, { model, quality });
        imageOf(answer);
        expect(body).toMatchObject({ quality: 'low' });
      }
    }
  });

  it('answers the same image again for an Idempotency-Key (IMG-17, G-48)', async () => {
    const by = { ...headers, 'idempotency-key': 'again' };
    const first = imageOf(await draw(gateway, by));
    expect(imageOf(await draw(gateway, by)).equals(first)).toBe(true);
  });

  it('fetches an image the provider only gives a URL of (IMG-05)', async () => {
    const { answer, charged } = await buyImage(gateway, { prompt: 'A tree [[sandbox:url]]' });
    expect(sizeOf(imageOf(answer))).toMatch(/^\d+x\d+$/);
    expect(charged).toBe(10_000n);
  });

  it('accepts a balance of exactly the price and refuses one micro-USD less (IMG-15)', async () => {
    const poor = await gateway.account(9_999n);
    await expectRefused(gateway, poor.accountId, () => draw(gateway, poor.headers), {
      status: 402,
      code: 'insufficient_user_quota',
    });
    const exact = await gateway.account(10_000n);
    imageOf(await draw(gateway, exact.headers));
    expect(await gateway.balance(exact.accountId)).toMatchObject({ available: 0n, held: 0n });
  });

  it('waits longer than two minutes for the provider (IMG-16)', () => {
    expect(UPSTREAM_TIMEOUTS.image.headMs).toBeGreaterThan(120_000);
    const server = gateway.app.getHttpServer();
    // Neither limits an answer: the first is for idle sockets, the second for the arrival of the request.
    expect(server.timeout).toBe(0);
    expect(server.requestTimeout).toBeGreaterThan(0);
  });
});

describe('bad fields', () => {
  it.each<[unknown]>([[undefined], [5], ['']])('refuses model %j (IMG-06)', (model) =>
    refused({ model }, 'model').then(() => undefined),
  );

  it.each([
    ['gen-image-9', 404],
    ['gen-5', 400],
    ['aud-v4', 400],
  ])('refuses the model %s with %i (IMG-07)', async (model, status) => {
    await expectRefused(gateway, accountId, () => draw(gateway, headers, { model }), {
      status,
      code: 'model_not_found',
      param: 'model',
    });
  });

  it.each<[unknown]>([[undefined], [''], [' \n'], [5]])('refuses prompt %j (IMG-08)', (prompt) =>
    refused({ prompt }, 'prompt').then(() => undefined),
  );

  it.each<[unknown]>([['512x512'], ['1024X1024'], ['AUTO'], [1]])(
    'refuses size %j (IMG-10, G-94)',
    (size) => refused({ size }, 'size').then(() => undefined),
  );

  it.each<[unknown]>([[2], [0], [-1], [1.5], ['1']])('refuses n %j (IMG-13, G-94)', (n) =>
    refused({ n }, 'n').then(() => undefined),
  );

  it.each([
    ['response_format', 'url'],
    ['quality', 'high'],
    ['background', 'transparent'],
    ['stream', true],
    ['partial_images', 2],
    ['style', 'vivid'],
    ['user', 'me'],
    ['foo', 1],
  ])('refuses %s %j (IMG-14, G-02)', (name, value) =>
    refused({ [name]: value }, name).then(() => undefined),
  );
});
