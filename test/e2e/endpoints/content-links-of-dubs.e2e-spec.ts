import { expect, it } from '@jest/globals';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { send } from '../../support/http-answer.js';

it('a link to a dub is in its result and its webhook, and is made by content-link', async () => {
  const dubs = await DubbingHarness.open();
  try {
    const { id } = await dubs.submit({
      webhook: dubs.receiver.url,
      webhook_secret: 'at-least-16-characters',
    });
    const { result } = await dubs.ended(id);
    const [delivery] = await dubs.receiver.until(1);
    expect((await dubs.get(id)).bytes.toString()).toBe(delivery?.body.toString());
    const whole = (await dubs.get(`${id}/content`)).bytes;
    const byResult = await send(String(result?.content_url));
    expect(byResult.status).toBe(200);
    expect(byResult.bytes.equals(whole)).toBe(true);
    const asked = await send(`${dubs.gateway.url}/v1/tasks/${id}/content-link`, {
      method: 'POST',
      headers: dubs.account.headers,
    });
    const link = asked.json as { url: string };
    const part = await send(link.url, { headers: { range: 'bytes=0-9' } });
    expect([part.status, part.bytes.equals(whole.subarray(0, 10))]).toEqual([206, true]);
    const kept = await dubs.gateway.dataSource.query<{ result: object }[]>(
      `SELECT result FROM task WHERE id = $1::uuid`,
      [id.slice('task_'.length)],
    );
    expect(JSON.stringify(kept)).not.toContain('signature');
  } finally {
    await dubs.close();
  }
});
