import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import { ProviderError } from '../../src/providers/http/provider-error.js';
import { isWithoutFile } from '../../src/tasks/collect-failure.js';
import { StubUpstream } from '../support/stub-upstream.js';
import {
  finishedGeminiJob,
  GEMINI_JOB,
  GEMINI_JOB_ID,
  GEMINI_KEY,
  geminiVideosAt,
} from './gemini-video-desk.js';

const LIMIT = 1_024;
const FILE = Buffer.from('0000ftypisom-of-a-video');

describe('the files and images of Gemini videos', () => {
  const transport = new HttpTransport(2_000);
  let stub: StubUpstream;
  const context = { upstreamModel: 'upstream-model', signal: new AbortController().signal };
  beforeEach(async () => {
    stub = await StubUpstream.start();
  });
  afterEach(() => stub.stop());
  afterAll(() => transport.close());

  const port = () => geminiVideosAt(stub.url, transport);
  const answer = (body: object): void => {
    stub.reply = (response) => response.end(JSON.stringify(body));
  };

  it('a file is fetched with the key below the base URL, whatever host the answer names', async () => {
    stub.reply = (response, { url }) =>
      url.includes('/operations/')
        ? response.end(
            JSON.stringify(
              finishedGeminiJob('https://elsewhere.example/v1beta/files/f-1:download?alt=media'),
            ),
          )
        : response.writeHead(200, { 'content-type': 'video/mp4' }).end(FILE);
    const content = await port().openVideo(GEMINI_JOB_ID, context);
    expect('body' in content && (await readBounded(content.body, LIMIT))).toEqual(FILE);
    expect(stub.seen.at(-1)?.url).toBe('/v1beta/files/f-1:download?alt=media');
    expect(stub.seen.at(-1)?.headers['x-goog-api-key']).toBe(GEMINI_KEY);
  });

  it('a file elsewhere is left to those who fetch without the key', async () => {
    answer(finishedGeminiJob('https://storage.example/a.mp4?signature=b'));
    expect(await port().openVideo(GEMINI_JOB_ID, context)).toEqual({
      redirectUrl: 'https://storage.example/a.mp4?signature=b',
    });
    expect(stub.seen).toHaveLength(1);
  });

  it.each([
    ['another path of the vendor', 'own', '/download/v1beta/files/f1:download?alt=media', true],
    ['any path of the vendor', 'own', '/elsewhere', true],
    ['another host', 'https://storage.example', '/v1beta/files/f1:download', false],
  ])('a redirect to %s', async (_what, host, path, takesKey) => {
    const target = `${host === 'own' ? stub.url : host}${path}`;
    stub.reply = (response, { url }) => {
      if (url.includes('/operations/'))
        return response.end(
          JSON.stringify(finishedGeminiJob(`${stub.url}/v1beta/files/f1:download?alt=media`)),
        );
      return url === path
        ? response.writeHead(200, { 'content-type': 'video/mp4' }).end(FILE)
        : response.writeHead(302, { location: target }).end();
    };
    const content = await port().openVideo(GEMINI_JOB_ID, context);
    const found = 'body' in content ? await readBounded(content.body, LIMIT) : content.redirectUrl;
    expect(found).toEqual(takesKey ? FILE : target);
    expect(stub.seen.map(({ url }) => url).includes(path)).toBe(takesKey);
  });

  it.each([
    ['is not told', { name: GEMINI_JOB }, 200],
    ['holds the key', finishedGeminiJob(`https://a.example/?key=${GEMINI_KEY}`), 200],
    ['is asked for in vain', { error: { code: 404, message: 'no', status: 'NOT_FOUND' } }, 404],
    ['is not to be read', { error: { code: 401, message: 'no', status: 'UNAUTHENTICATED' } }, 401],
  ])('a place of the file that %s is asked for again', async (_what, body, status) => {
    stub.reply = (response) => response.writeHead(status).end(JSON.stringify(body));
    const error: unknown = await port()
      .openVideo(GEMINI_JOB_ID, context)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ sent: true, upstreamStatus: undefined });
    expect(isWithoutFile(error)).toBe(false);
    expect(JSON.stringify(error)).not.toContain(GEMINI_KEY);
  });

  it('one image in many places counts in each of them', async () => {
    const images = await StubUpstream.start();
    images.reply = (response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(Buffer.alloc(5 * 1024 * 1024));
    answer({ name: GEMINI_JOB });
    const url = `${images.url}/a`;
    const twice = { prompt: 'a', seconds: '8', firstFrameUrl: url, lastFrameUrl: url };
    await port().submitVideo(twice, context);
    const sent = JSON.parse(stub.only.body.toString()) as {
      instances: [{ image: { bytesBase64Encoded: string } }];
    };
    const { bytesBase64Encoded: base64 } = sent.instances[0].image;
    expect(Buffer.from(base64, 'base64')).toEqual(Buffer.alloc(5 * 1024 * 1024));
    await expect(port().submitVideo({ ...twice, imageUrls: [url] }, context)).rejects.toMatchObject(
      { kind: 'rejected', sent: false },
    );
    await images.stop();
  });

  it('images are sent as bytes, in their places', async () => {
    const images = await StubUpstream.start();
    images.reply = (response, { url }) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(url);
    answer({ name: GEMINI_JOB });
    const at = (name: string) => `${images.url}/${name}`;
    const command = {
      ...{ prompt: 'a', seconds: '8', firstFrameUrl: at('first'), lastFrameUrl: at('last') },
      imageUrls: [at('one'), at('two')],
    };
    await port().submitVideo(command, context);
    await images.stop();
    const image = (name: string) => ({
      bytesBase64Encoded: Buffer.from(`/${name}`).toString('base64'),
      mimeType: 'image/png',
    });
    expect(JSON.parse(stub.only.body.toString())).toMatchObject({
      instances: [
        {
          prompt: 'a',
          image: image('first'),
          lastFrame: image('last'),
          referenceImages: ['one', 'two'].map((name) => ({
            image: image(name),
            referenceType: 'asset',
          })),
        },
      ],
    });
  });
});
