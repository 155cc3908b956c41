import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sample } from '../../media/byte-edits.js';
import { type Browser, chromiumPath, startBrowser } from '../../support/browser.js';
import { DubbingHarness, silentWav } from '../../support/dubbing-harness.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

/** Runs in the page. */
const PLAY = `async (url) => {
  const media = document.createElement('video');
  media.src = url;
  media.muted = true;
  media.playbackRate = 16;
  const ended = new Promise((resolve, reject) => {
    media.addEventListener('ended', resolve, { once: true });
    media.addEventListener('error', () => reject(new Error(media.error.message)), { once: true });
  });
  await media.play();
  await ended;
  return { seconds: media.currentTime, width: media.videoWidth };
}`;
interface Played {
  readonly seconds: number;
  readonly width: number;
}

describeInBrowser('a dub in a browser', () => {
  let harness: DubbingHarness;
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
    harness = await DubbingHarness.open();
  }, PATIENCE_MS);
  afterAll(async () => {
    await browser.close();
    await harness.close();
  });

  it.each([
    ['a recording', silentWav(3), 3, 0],
    ['a film', sample('tone.mp4'), 15, 1],
  ])(
    'of %s is played to its end',
    async (_what, source, seconds, hasPictures) => {
      harness.serve(source);
      const { id } = await harness.submit();
      await harness.ended(id);
      const { bytes, headers } = await harness.get(`${id}/content`);
      const page = await browser.context.newPage();
      const url = `data:${headers.get('content-type')};base64,${bytes.toString('base64')}`;
      const played = await page.evaluate<Played>(`(${PLAY})('${url}')`);
      await page.close();
      expect(Math.abs(played.seconds - seconds)).toBeLessThan(1);
      expect(Math.min(played.width, 1)).toBe(hasPictures);
    },
    PATIENCE_MS,
  );
});
