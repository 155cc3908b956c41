import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { expectRefused } from '../../support/refusal.js';
import { until } from '../../support/until.js';
import {
  EDIT_MODEL,
  EDIT_TEXTS,
  EDITS_PATH,
  type FormPart,
  imageLine,
  ImageDesk,
  imagesIn,
  LOW_PRICE,
  ONE_IMAGE,
  PNG,
} from '../../support/image-desk.js';

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0]);
const WEBP = Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1');

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

describe('POST /v1/images/edits', () => {
  it('makes an image of another and charges the first quality of the model', async () => {
    const { answer, charged, execution } = await desk.buyEdit(ONE_IMAGE);
    const [image, ...others] = imagesIn(answer);
    expect([image?.toString('latin1', 1, 4), others.length, charged]).toEqual([
      'PNG',
      0,
      LOW_PRICE,
    ]);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(`${LOW_PRICE}`);
    expect(execution).toMatchObject({ status: 'succeeded', lines: [imageLine(LOW_PRICE)] });
    expect(desk.uploads()).toEqual([]);
  });

  it('sends the provider every image, the mask and what the caller chose', async () => {
    const choices: FormPart[] = [
      ['quality', 'high'],
      ['size', '1536x1024'],
      ['background', 'transparent'],
      ['output_format', 'webp'],
      ['output_compression', '50'],
      ['n', '2'],
    ];
    const files: FormPart[] = [
      ['image[]', PNG],
      ['image[]', JPEG],
      ['image[]', WEBP],
      ['mask', PNG],
    ];
    const { answer, charged } = await desk.buyEdit([...EDIT_TEXTS, ...files, ...choices]);
    expect([imagesIn(answer).length, charged]).toEqual([2, 320_000n]);
    const [sent] = await gateway.upstreamRequests();
    expect(sent).toMatchObject({ operation: 'image_edits' });
    const text = JSON.stringify(sent?.body);
    for (const word of ['high', '1536x1024', 'transparent', 'webp', '50', 'image[]', 'mask']) {
      expect(text).toContain(word);
    }
  });

  it('works with the OpenAI SDK, unmodified', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: desk.account.key });
    const image = await toFile(PNG, 'a.png', { type: 'image/png' });
    const one = await client.images.edit({ model: EDIT_MODEL, prompt: 'A cat', image });
    expect(one.data?.length).toBe(1);
    const several = { image: [image, image], mask: image, n: 3 };
    const words = { model: EDIT_MODEL, prompt: 'A cat', quality: 'medium' } as const;
    const more = await client.images.edit({ ...words, ...several });
    expect(more.data?.map(({ b64_json: text }) => typeof text)).toEqual(Array(3).fill('string'));
  });

  it.each<[string, readonly FormPart[], string]>([
    ['no image', EDIT_TEXTS, 'image'],
    ['an image as a text', [...EDIT_TEXTS, ['image', 'abc']], 'image'],
    ['a file that is no image', [...EDIT_TEXTS, ['image', Buffer.from('GIF89a of old')]], 'image'],
    ['an empty file', [...EDIT_TEXTS, ['image', Buffer.alloc(0)]], 'image'],
    ['a mask that is no image', [...ONE_IMAGE, ['mask', Buffer.from('no')]], 'mask'],
    ['a quality that is not listed', [...ONE_IMAGE, ['quality', 'best']], 'quality'],
    ['a background that is not listed', [...ONE_IMAGE, ['background', 'red']], 'background'],
    ['a format that is not listed', [...ONE_IMAGE, ['output_format', 'gif']], 'output_format'],
    ['a size that is not listed', [...ONE_IMAGE, ['size', '1x1']], 'size'],
    ['too many images wanted', [...ONE_IMAGE, ['n', '5']], 'n'],
    [
      'a compression without a format',
      [...ONE_IMAGE, ['output_compression', '5']],
      'output_compression',
    ],
    ['an unknown field', [...ONE_IMAGE, ['fps', '24']], 'fps'],
    ['a fidelity that costs more', [...ONE_IMAGE, ['input_fidelity', 'high']], 'input_fidelity'],
  ])('refuses %s, naming the field', async (_what, parts, param) => {
    const refusal = { status: 400, code: 'invalid_request', param };
    const { error } = await expectRefused(
      gateway,
      desk.account.accountId,
      () => desk.post(parts),
      refusal,
    );
    expect(error.message).toContain(param);
    await until(() => desk.uploads().length === 0);
  });

  it.each<[string, readonly FormPart[], string, string | null]>([
    ['without a model', [['image', PNG]], 'invalid_multipart', 'model'],
    ['with a repeated text', [...ONE_IMAGE, ['prompt', 'Two']], 'invalid_multipart', 'prompt'],
    ['with a file in another field', [...ONE_IMAGE, ['file', PNG]], 'invalid_multipart', 'file'],
    ['with two masks', [...ONE_IMAGE, ['mask', PNG], ['mask', PNG]], 'invalid_multipart', 'mask'],
    [
      'with 17 images',
      [...EDIT_TEXTS, ...Array.from({ length: 17 }, (): FormPart => ['image', PNG])],
      'invalid_multipart',
      'image',
    ],
  ])('refuses a form %s', async (_what, parts, code, param) => {
    const answer = await desk.post(parts);
    expect([answer.status, errorOf(answer).code, errorOf(answer).param]).toEqual([
      400,
      code,
      param,
    ]);
    await until(() => desk.uploads().length === 0);
  });

  it('refuses more than 50 MB in all, and JSON', async () => {
    const half = Buffer.concat([PNG, Buffer.alloc(27_000_000)]);
    const large = await desk.post([...EDIT_TEXTS, ['image', half], ['image', half]]);
    expect([large.status, errorOf(large).code]).toEqual([413, 'request_too_large']);
    const json = await postJson(gateway.url + EDITS_PATH, desk.account.headers, {
      model: EDIT_MODEL,
    });
    expect([json.status, errorOf(json).code]).toEqual([400, 'invalid_content_type']);
    await until(() => desk.uploads().length === 0);
  });

  it.each(['gen-image-2', 'gen-image-2-all', 'gen-5'])(
    'does not run %s, and unknown models are not found',
    async (model) => {
      const answer = await desk.post([
        ['model', model],
        ['prompt', 'A'],
        ['image', PNG],
      ]);
      expect([answer.status, errorOf(answer).code, errorOf(answer).param]).toEqual([
        400,
        'model_not_found',
        'model',
      ]);
      const unknown = await desk.post([
        ['model', 'gen-none'],
        ['prompt', 'A'],
        ['image', PNG],
      ]);
      expect([unknown.status, errorOf(unknown).code]).toEqual([404, 'model_not_found']);
    },
  );

  it('is listed by the models that can, and by no other', async () => {
    const { json } = await send(`${gateway.url}/v1/models`, { headers: desk.account.headers });
    const { data } = json as { data: { id: string; supported_endpoint_types: string[] }[] };
    const editing = data.filter((model) => model.supported_endpoint_types.includes('image-edits'));
    expect(editing.map(({ id }) => id)).toEqual([EDIT_MODEL]);
  });

  it('is quoted as it is charged', async () => {
    const body = { model: EDIT_MODEL, prompt: 'A', n: 3, quality: 'medium' };
    const quote = await postJson(`${gateway.url}/v1/quotes`, desk.account.headers, {
      path: EDITS_PATH,
      body,
    });
    expect(quote.json).toMatchObject({ hold_microusd: '120000', charge_microusd: '120000' });
  });

  it.each([
    ['a refusal of content', '[[sandbox:status=400]]', 400],
    ['an answer without an image', '[[sandbox:no-data]]', 502],
    ['a failure', '[[sandbox:status=500]]', 502],
  ])('is free after %s, and leaves no file', async (_what, prompt, status) => {
    const { answer, charged } = await desk.buyEdit([
      ['model', EDIT_MODEL],
      ['prompt', prompt],
      ['image', PNG],
    ]);
    expect([answer.status, charged]).toEqual([status, 0n]);
    await until(() => desk.uploads().length === 0);
  });

  it('answers the same form with the same key again, without a charge, and refuses other files with it (G-86)', async () => {
    const headers = { ...desk.account.headers, 'idempotency-key': 'harbour-1' };
    const first = await desk.post(ONE_IMAGE, { headers });
    const before = (await gateway.balance(desk.account.accountId)).available;
    const again = await desk.post(ONE_IMAGE, { headers });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('x-gateway-replayed')).toBe('true');
    expect(again.json).toEqual(first.json);
    const other = await desk.post([...EDIT_TEXTS, ['image', WEBP]], { headers });
    expect([other.status, errorOf(other).code]).toEqual([409, 'idempotency_conflict']);
    expect((await gateway.balance(desk.account.accountId)).available).toBe(before);
    await until(() => desk.uploads().length === 0);
  });

  it('of an account without balance is refused before its form is read (G-101)', async () => {
    const poor = await gateway.account(0n);
    const answer = await desk.post(ONE_IMAGE, poor);
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_user_quota']);
    expect(desk.uploads()).toEqual([]);
  });
});
