import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { type GatewayFromOutside, sharedGateway } from '../support/shared-gateway.js';

/** The SDK's functions for videos, typed here because its own types are marked as deprecated. */
interface SdkVideos {
  create(body: object): Promise<SdkVideo>;
  retrieve(id: string, options?: object): Promise<SdkVideo>;
  downloadContent(id: string, query?: object): Promise<Response>;
}
interface SdkVideo {
  readonly id: string;
  readonly status: string;
}

/** The stock SDK with base URL and key, and no other option. */
let videos: SdkVideos;
let gateway: GatewayFromOutside;

beforeAll(async () => {
  gateway = await sharedGateway();
  const { key } = await gateway.account();
  const client: unknown = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key });
  ({ videos } = client as { videos: SdkVideos });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const asked = (fields: object) => ({
  model: 'vid-omni',
  prompt: 'Dunes',
  seconds: '10',
  ...fields,
});

/** Polls as the SDK's users do. */
async function finished(id: string): Promise<SdkVideo> {
  for (;;) {
    const video = await videos.retrieve(id, { headers: { prefer: 'wait=20' } });
    if (video.status === 'completed' || video.status === 'failed') return video;
  }
}

describe('the OpenAI SDK, unmodified', () => {
  it('creates, retrieves and downloads a video (VID-34)', async () => {
    const created = await videos.create(asked({ size: '320x180' }));
    expect(created).toMatchObject({
      object: 'video',
      status: 'queued',
      model: 'vid-omni',
      seconds: '10',
      size: '320x180',
    });
    const video = await finished(created.id);
    expect(video).toMatchObject({ id: created.id, status: 'completed', progress: 100 });
    const content = await videos.downloadContent(created.id);
    expect(content.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await content.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    const named = await videos.downloadContent(created.id, { variant: 'video' });
    expect(Buffer.from(await named.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('sends the lists of other families in its form', async () => {
    const image_urls = ['https://93.184.216.34/a.png', 'https://93.184.216.34/b.png'];
    const body = asked({ model: 'vid-cine', seconds: '5', aspect_ratio: '1:1', image_urls });
    const { id } = await videos.create(body);
    await finished(id);
    const requests = await gateway.upstreamRequests();
    const request = requests.find(({ operation }) => operation === 'video_create');
    expect(request).toMatchObject({ body: { aspect_ratio: '1:1', image_urls } });
  });

  it('raises its typed errors', async () => {
    const file = await toFile(Buffer.from('a picture'), 'a.png', { type: 'image/png' });
    const refused = videos.create(asked({ input_reference: file }));
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
      param: 'input_reference',
    });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.BadRequestError);
    const unknown = videos.retrieve(`task_${'0'.repeat(32)}`);
    await expect(unknown).rejects.toBeInstanceOf(OpenAI.NotFoundError);
    const { id } = await videos.create(asked({ prompt: '[[sandbox:task-ms=1]]a' }));
    await finished(id);
    const thumbnail = videos.downloadContent(id, { variant: 'thumbnail' });
    await expect(thumbnail).rejects.toMatchObject({ status: 400, param: 'variant' });
  });
});
