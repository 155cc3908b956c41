import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';
import type { TestAccount } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { BRISK } from '../../support/video-harness.js';

const PATIENCE_MS = 120_000;
/** Plays the last video, and answers its length in seconds. */
const PLAY = `(async () => {
  const video = [...document.querySelectorAll('video')].at(-1);
  video.muted = true;
  await video.play();
  return video.duration;
})()`;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('the file of a task, on its page', () => {
  let desk: ConsoleDesk;
  let account: TestAccount;
  let video: string;

  beforeAll(async () => {
    desk = await ConsoleDesk.start({ ...BRISK });
    account = await desk.gateway.account();
    const body = { model: 'vid-motion', prompt: 'Sea', seconds: '5', aspect_ratio: '16:9' };
    const answer = await postJson(`${desk.gateway.url}/v1/videos`, account.headers, body);
    ({ id: video } = answer.json as { id: string });
    const headers = { ...account.headers, prefer: 'wait=30' };
    await send(`${desk.gateway.url}/v1/tasks/${video}`, { headers });
    await desk.signIn();
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  it(
    'plays by a link that an operator makes with the keyboard and a reason, which is recorded',
    async () => {
      await desk.open(`/tasks/${video}`, video);
      await desk.press('Link to the file');
      await desk.press('Link to the file');
      expect(await desk.page.getByRole('dialog').count()).toBe(1);
      await desk.type('textbox', 'Reason', 'Ticket 17');
      await desk.press('Link to the file');
      await desk.told(/The link to the file was made/);
      await desk.page.getByText(/Good without a key until/).waitFor();
      expect(await desk.page.locator('.made-link video').count()).toBe(1);
      expect(await desk.page.evaluate(PLAY)).toBeGreaterThan(4);
      expect(await desk.faults()).toEqual([]);
      expect(desk.complaints).toEqual([]);
      const path = `/admin/operator-actions?action=task:content-link&target=${video}`;
      const { data } = await desk.admin<{ data: object[] }>('GET', path);
      expect(data).toMatchObject([{ reason: 'Ticket 17', outcome: 'done' }]);
    },
    PATIENCE_MS,
  );
});
