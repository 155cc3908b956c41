import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf } from '../../support/http-answer.js';
import { imageLine, ImageDesk, imagesIn, LOW_PRICE } from '../../support/image-desk.js';

let gateway: TestGateway;
let desk: ImageDesk;

beforeAll(async () => {
  gateway = await startTestGateway();
  desk = await ImageDesk.open(gateway);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('several images', () => {
  it('are one hold and one charge of a line for each', async () => {
    const { answer, charged, execution } = await desk.buyImages({ n: 3, quality: 'medium' });
    expect([imagesIn(answer).length, charged]).toEqual([3, 120_000n]);
    expect(execution).toMatchObject({
      quantity: 3,
      held_microusd: '120000',
      lines: [imageLine(40_000n), imageLine(40_000n), imageLine(40_000n)],
    });
  });

  it('cost what was made where the provider made fewer', async () => {
    const prompt = 'A lighthouse [[sandbox:images=2]]';
    const { answer, charged, execution } = await desk.buyImages({ n: 4, prompt });
    expect([imagesIn(answer).length, charged]).toEqual([2, 2n * LOW_PRICE]);
    expect(execution).toMatchObject({ quantity: 2, held_microusd: '40000' });
    const none = await desk.buyImages({ n: 4, prompt: '[[sandbox:no-data]]' });
    expect([none.answer.status, none.charged]).toEqual([502, 0n]);
  });

  it.each([
    [{ quality: 'high', size: '1024x1024' }, 160_000n],
    [{ quality: 'auto' }, LOW_PRICE],
    [{ background: 'opaque', output_format: 'jpeg', output_compression: 80 }, LOW_PRICE],
  ])('of %j cost %p micro-USD each', async (fields, price) => {
    const { answer, charged } = await desk.buyImages(fields);
    expect([imagesIn(answer).length, charged]).toEqual([1, price]);
    const [sent] = await gateway.upstreamRequests();
    const quality = price === LOW_PRICE ? 'low' : 'high';
    expect(sent?.body).toMatchObject({ ...fields, quality });
  });

  it.each([
    [{ n: 2 }, 'n'],
    [{ quality: 'high' }, 'quality'],
    [{ background: 'transparent' }, 'background'],
    [{ output_format: 'png' }, 'output_format'],
    [{ output_compression: 5 }, 'output_compression'],
  ])('and choices stay refused on the models of the spec: %j', async (fields, param) => {
    for (const model of ['gen-image-2', 'gen-image-2-all']) {
      const body = { model, prompt: 'A', ...fields };
      const answer = await desk.draw(body);
      expect([answer.status, errorOf(answer).param]).toEqual([400, param]);
    }
  });
});
