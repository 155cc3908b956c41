import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, send } from '../../support/http-answer.js';
import { probeTracks } from '../../support/media-probe.js';
import { VIDEO, VideoHarness } from '../../support/video-harness.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

const FRAMES_PER_SECOND = 24;
const SLOW = 'The sea [[sandbox:task-ms=600000]]';

let gateway: GatewayFromOutside;
let harness: VideoHarness;

beforeAll(async () => {
  gateway = await sharedGateway();
  harness = await VideoHarness.open(gateway);
});
afterAll(() => gateway.stop());

describe('the content of a video', () => {
  it.each([
    [{ aspect_ratio: '16:9', seconds: '5' }, 640, 360],
    [{ aspect_ratio: '9:16', seconds: '10' }, 360, 640],
    [{ aspect_ratio: '1:1', seconds: '15' }, 640, 640],
    [{ model: 'vid-omni', seconds: '10', size: '321x181' }, 321, 181],
    [{ model: 'vid-omni', seconds: '10', size: '1920x1080' }, 1920, 1080],
  ])('of %j is an MP4 of that size and length (VID-26)', async (fields, width, height) => {
    const { id, seconds, status } = await harness.made(fields);
    expect(status).toBe('completed');
    const answer = await harness.content(id);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${id}.mp4"`);
    expect(answer.bytes.toString('latin1', 4, 8)).toBe('ftyp');
    for (const track of probeTracks(answer.bytes) ?? []) {
      expect([track.codec_name, track.width, track.height]).toEqual(['h264', width, height]);
      const frames = Number(track.nb_read_frames) - Number(seconds) * FRAMES_PER_SECOND;
      expect(Math.abs(frames)).toBeLessThanOrEqual(1);
    }
  });

  it('can be resumed with Range, and requested with HEAD', async () => {
    const { id } = await harness.made();
    const { bytes, headers } = await harness.content(id);
    const part = await harness.content(id, { range: 'bytes=100-' });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 100-${bytes.length - 1}/${bytes.length}`,
    ]);
    expect(part.bytes.equals(bytes.subarray(100))).toBe(true);
    const outside = await harness.content(id, { range: `bytes=${bytes.length}-` });
    expect([outside.status, errorOf(outside).code]).toEqual([416, 'range_not_satisfiable']);
    const head = await send(`${gateway.url}/v1/videos/${id}/content`, {
      method: 'HEAD',
      headers: harness.account.headers,
    });
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      200,
      String(bytes.length),
      headers.get('etag'),
    ]);
  });

  it('is 409 until the video is completed, and when it failed (VID-27, ERR-34, G-60)', async () => {
    const { id } = await harness.submitted({ prompt: SLOW });
    const failed = await harness.made({ prompt: `${VIDEO.prompt}[[sandbox:task-fails]]` });
    for (const video of [id, failed.id]) {
      const answer = await harness.content(video);
      expect([answer.status, errorOf(answer).code]).toEqual([409, 'task_not_ready']);
    }
  });

  it('is not there below /v1/tasks', async () => {
    const { id } = await harness.made();
    const answer = await harness.get(`tasks/${id}/content`);
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'content_not_available']);
  });
});
