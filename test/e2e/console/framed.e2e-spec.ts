import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { chromiumPath } from '../../support/browser.js';
import { ConsoleDesk } from '../../support/console-desk.js';

const PATIENCE_MS = 240_000;
const describeInBrowser = chromiumPath === undefined ? describe.skip : describe;

describeInBrowser('a page of another origin', () => {
  it(
    'shows the console in no frame',
    async () => {
      const desk = await ConsoleDesk.start();
      const server = createServer((_request, response) => {
        response.setHeader('content-type', 'text/html');
        response.end(`<h1>Win a prize</h1><iframe src="${desk.gateway.url}/console/"></iframe>`);
      });
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      try {
        await desk.signIn();
        const { port } = server.address() as AddressInfo;
        await desk.page.goto(`http://127.0.0.1:${port}/`);
        await desk.page.waitForLoadState('networkidle');
        const frame = desk.page.frames().find((one) => one !== desk.page.mainFrame());
        expect(frame?.url()).toBe('chrome-error://chromewebdata/');
        expect(await frame?.getByRole('heading', { name: 'Today' }).count()).toBe(0);
        expect(desk.complaints.join('\n')).toMatch(/frame-ancestors 'none'|X-Frame-Options/);
      } finally {
        server.close();
        server.closeAllConnections();
        await desk.stop();
      }
    },
    PATIENCE_MS,
  );
});
