import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OperatorToken } from '../../../src/auth/operators/operator-token.js';
import type { Role } from '../../../src/auth/operators/role.js';
import { ConsoleSessions } from '../../../src/auth/sessions/console-sessions.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { ConsoleBrowser } from '../../support/console-browser.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { BRISK } from '../../support/video-harness.js';

let gateway: TestGateway;
let desk: AdminHarness;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway({ ...BRISK });
  desk = await AdminHarness.start(gateway);
  account = await gateway.account();
});
afterAll(() => desk.stop());

async function submitted(path: string, body: object): Promise<string> {
  const answer = await postJson(gateway.url + path, account.headers, body);
  return (answer.json as { id: string }).id;
}

async function ended(path: string, body: object): Promise<string> {
  const id = await submitted(path, body);
  for (let status = 'queued'; /queued|progress|processing/.test(status);) {
    const headers = { ...account.headers, prefer: 'wait=30' };
    ({ status } = (await send(`${gateway.url}/v1/tasks/${id}`, { headers })).json as {
      status: string;
    });
  }
  return id;
}

/** A browser with a session in this role, as the identity provider would have given it. */
async function as(role: Role): Promise<ConsoleBrowser> {
  const actor = gateway.app.get(OperatorToken, { strict: false }).actor ?? '';
  const person = `${role}@example.com`;
  const { secret } = await gateway.app
    .get(ConsoleSessions, { strict: false })
    .open({ kind: 'operator', actor, role, person }, null, new Date());
  const browser = new ConsoleBrowser(gateway.url);
  browser.cookies.set('shim', secret);
  return browser;
}

const dub = () =>
  ended('/v1/audio/dubbing', {
    ...{ model: 'aud-dubbing-v1', target_language: 'es' },
    source_url: `${gateway.url}/sandbox/media/recording.mp3`,
  });
const video = () =>
  ended('/v1/videos', {
    ...{ model: 'vid-motion', prompt: 'A lighthouse', seconds: '5', aspect_ratio: '16:9' },
  });
const linkTo = (id: string) => desk.ask('POST', `/tasks/${id}/content-link`);
const recorded = async (id: string) =>
  (await desk.list(`/operator-actions?action=task:content-link&target=${id}`)).data;

describe('POST /admin/tasks/{id}/content-link', () => {
  it.each([
    ['dub', dub, 'tasks'],
    ['video', video, 'videos'],
  ])('answers a link to the file of a %s that needs no key', async (_kind, made, surface) => {
    const id = await made();
    const own = await send(`${gateway.url}/v1/${surface}/${id}/content`, account);
    const answer = await linkTo(id);
    expect([answer.status, Object.keys(answer.json as object)]).toEqual([
      200,
      ['url', 'expires_at'],
    ]);
    const { url, expires_at: expiresAt } = answer.json as { url: string; expires_at: number };
    expect(url).toContain(`/v1/${surface}/${id}/content?expires=${expiresAt}&signature=`);
    const file = await send(url);
    expect([file.status, file.bytes.equals(own.bytes)]).toEqual([200, true]);
    const customers = await send(`${gateway.url}/v1/${surface}/${id}/content-link`, {
      method: 'POST',
      headers: account.headers,
    });
    expect(Object.keys(customers.json as object)).toEqual(Object.keys(answer.json as object));
  });

  it('is recorded with person, role and reason, and is no work of a viewer', async () => {
    const id = await dub();
    const path = `/api/admin/tasks/${id}/content-link`;
    const viewer = (await as('viewer')).post(path, {}, { 'x-console-reason': 'curious' });
    await expectError(viewer, 403, 'permission_denied', 'role');
    const silent = (await as('support')).post(path, {});
    await expectError(silent, 400, 'invalid_request', 'x-console-reason');
    expect(await recorded(id)).toEqual([]);
    const reason = { 'x-console-reason': encodeURIComponent('Ticket 17: no sound') };
    expect((await (await as('support')).post(path, {}, reason)).status).toBe(200);
    const [act] = await recorded(id);
    expect(act).toMatchObject({
      person: 'support@example.com',
      role: 'support',
      reason: 'Ticket 17: no sound',
      outcome: 'done',
    });
    expect(JSON.stringify(act)).not.toContain('signature');
  });

  it('refuses a task that is unknown, that has no file, or that made none yet', async () => {
    const unknown = 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a';
    await expectError(linkTo(unknown), 404, 'not_found');
    const song = await ended('/v1/music/generations', { model: 'song-music', prompt: 'Rain' });
    await expectError(linkTo(song), 404, 'content_not_available', 'id');
    const slow = { model: 'song-music', prompt: 'Rain [[sandbox:delay=3000]]' };
    await expectError(
      linkTo(await submitted('/v1/music/generations', slow)),
      409,
      'task_not_ready',
      'id',
    );
  });

  it('refuses a file that is past its time', async () => {
    const id = await dub();
    await gateway.dataSource.query(`UPDATE stored_file SET expires_at = now() - interval '1 s'`);
    await expectError(linkTo(id), 410, 'content_expired');
  });
});
