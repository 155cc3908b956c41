import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 120_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('a screen before an answer that nobody expects', () => {
  let desk: ConsoleDesk;

  beforeAll(async () => {
    desk = await ConsoleDesk.start();
    await desk.signIn((await desk.gateway.account()).key);
  }, PATIENCE_MS);
  afterAll(() => desk.stop());

  const result = () => desk.page.locator('section[aria-label="Result"]');

  /** Calls for a picture, which is answered so. */
  async function pictureOf(image: object): Promise<void> {
    const path = '**/console/api/v1/images/generations';
    await desk.page.route(path, (route) =>
      route.fulfill({ json: { created: 1, data: [image] }, headers: { 'x-request-id': 'exec_1' } }),
    );
    await desk.open('/playground?operation=image-generation', 'Playground');
    await desk.press('Call');
    await result().locator('details').first().waitFor();
    await desk.page.unroute(path);
  }

  it(
    'says of a picture in no base64 that it cannot be shown',
    async () => {
      await pictureOf({ b64_json: 'no base64 *' });
      await result().getByText('image-1.png cannot be shown').waitFor();
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it.each([
    'https://elsewhere.example/v1/tasks/task_1/content.png',
    'http://127.0.0.1:1/sandbox/media/picture.png',
    String.raw`https:\\elsewhere.example/v1/picture.png`,
  ])(
    'names the file %s and reads nothing from its address',
    async (url) => {
      await pictureOf({ url });
      expect(await result().locator('img').count()).toBe(0);
      expect(desk.complaints).toEqual([]);
    },
    PATIENCE_MS,
  );

  it(
    'shows a picture that is at the address of the page',
    async () => {
      await pictureOf({ url: `${desk.gateway.url}/sandbox/media/picture.png` });
      await result().locator('img').first().waitFor();
    },
    PATIENCE_MS,
  );

  it(
    'tells of a model at an address that is no text',
    async () => {
      await desk.page.goto(`${desk.gateway.url}/console/models/%25E0%25A4%25A`);
      await desk.page
        .getByText(/does not exist|no such model|unknown/i)
        .first()
        .waitFor();
      expect(desk.complaints.filter((one) => !one.includes('404'))).toEqual([]);
    },
    PATIENCE_MS,
  );
});
