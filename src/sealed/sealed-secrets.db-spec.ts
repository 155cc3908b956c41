import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { SecretBox } from '../common/secrets/secret-box.js';
import { contextOfAnswer } from '../platform/http-server/responses/answer-copy.js';
import { StoredContent } from '../stored-responses/stored-content.js';
import { TaskInputs } from '../tasks/submission/task-inputs.js';
import { WebhookSecrets } from '../webhooks/webhook-secrets.js';
import { SealedSecrets } from './sealed-secrets.js';

const keyOf = (letter: string) => letter.repeat(40);

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** A process whose list has these keys. */
function processWith(...letters: string[]) {
  const box = new SecretBox(letters.map(keyOf));
  const inputs = new TaskInputs(box);
  const secrets = new WebhookSecrets(box);
  const content = new StoredContent(box);
  const sealed = new SealedSecrets(database.dataSource, box, inputs, secrets, content);
  return { inputs, secrets, content, sealed };
}

/** An open task with a webhook, one delivery of which is written. */
async function newTask({ inputs, secrets }: ReturnType<typeof processWith>): Promise<string> {
  const [account, id] = [randomUUID(), randomUUID()];
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, sealed_input, webhook_secret, details, provider,
                       provider_base_url, on_sandbox, upstream_model, reserved)
     VALUES ($1, $2, 'song', 'audio', 'tune-music', $3, $4, '{}', 'sandbox', '', true, 'm', 100)`,
    [account, id, inputs.seal({ prompt: 'a waltz' }, id), secrets.seal('whsec', id)],
  );
  await database.dataSource.query(
    `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, sealed_secret, body, status, created_at)
     VALUES ($1, $2, $3, '', '', $4, '', 'delivered', now())`,
    [account, randomUUID(), id, secrets.seal('whsec', id)],
  );
  return id;
}

async function readOf({ inputs, secrets }: ReturnType<typeof processWith>, id: string) {
  const [row] = await database.dataSource.query<Record<'input' | 'secret' | 'delivered', string>[]>(
    `SELECT sealed_input AS input, webhook_secret AS secret,
            (SELECT sealed_secret FROM webhook_delivery WHERE owner_id = $1) AS delivered
       FROM task WHERE id = $1`,
    [id],
  );
  return {
    input: inputs.open(row?.input ?? '', id),
    secrets: [row?.secret, row?.delivered].map((sealed) => secrets.open(sealed ?? '', id)),
  };
}
const WHOLE = { input: { prompt: 'a waltz' }, secrets: ['whsec', 'whsec'] };

describe('a start with another list of secret keys', () => {
  it('fails while texts are sealed with a key that is not in the list, and reports their number', async () => {
    const old = processWith('a');
    await old.sealed.check();
    await newTask(old);
    await expect(processWith('b').sealed.check()).rejects.toThrow(
      /SECRET_KEY: 3 secrets are sealed with a key that is not in the list\. .*secret:forget/,
    );
    await processWith('b', 'a').sealed.check();
    await expect(processWith('b').sealed.check()).rejects.toThrow(/3 secrets are sealed/);
  });

  it('fails too if no start has recorded its key yet', async () => {
    await newTask(processWith('a'));
    await expect(processWith('b').sealed.check()).rejects.toThrow(/3 secrets are sealed/);
    await processWith('a').sealed.check();
  });

  it('succeeds if the removed key has sealed nothing, and reads the texts only once the next time', async () => {
    await processWith('a').sealed.check();
    const next = processWith('b');
    await next.sealed.check();
    await newTask(next);
    await next.sealed.check();
    const noted = await database.dataSource.query<object[]>('SELECT FROM sealing_key');
    expect(noted).toHaveLength(1);
  });

  it('starts without the old key once everything was sealed with the new one', async () => {
    const old = processWith('a');
    await old.sealed.check();
    const id = await newTask(old);
    const both = processWith('b', 'a');
    await both.sealed.check();
    expect(await both.sealed.rotate()).toEqual({ sealedAnew: 3, left: 0, unreadable: 0 });
    expect(await both.sealed.rotate()).toEqual({ sealedAnew: 0, left: 0, unreadable: 0 });
    const next = processWith('b');
    await next.sealed.check();
    expect(await readOf(next, id)).toEqual(WHOLE);
  });

  it('seals the secrets of endpoints anew, and those of what they were told, which a deleted one keeps', async () => {
    const [account, id] = [randomUUID(), randomUUID()];
    const old = processWith('a');
    await old.sealed.check();
    const secret = old.secrets.seal('whsec', id);
    const endpoint = [account, id, secret];
    await database.dataSource.query(
      `INSERT INTO webhook_endpoint (account_id, id, url, origin, sealed_secret, events, created_at)
         VALUES ($1, $2, '', '', $3, '{balance.low}', now())`,
      endpoint,
    );
    const tell = `SELECT event_tell($1, 'balance.low', '{}')`;
    await database.dataSource.query(tell, [account]);
    const both = processWith('b', 'a');
    await both.sealed.check();
    expect(await both.sealed.rotate()).toEqual({ sealedAnew: 2, left: 0, unreadable: 0 });
    await database.dataSource.query(tell, [account]);
    await database.dataSource.query('DELETE FROM webhook_endpoint');
    const next = processWith('b');
    await next.sealed.check();
    const deliveries = await database.dataSource.query<{ sealed_secret: string }[]>(
      'SELECT sealed_secret FROM webhook_delivery',
    );
    const opened = deliveries.map((row) => next.secrets.open(row.sealed_secret, id));
    expect(opened).toEqual(['whsec', 'whsec']);
  });

  it('seals kept answers anew', async () => {
    const [account, id] = [randomUUID(), randomUUID()];
    const context = contextOfAnswer(id);
    await database.dataSource.query(`SELECT answer_keep($1, $2, 'text/plain', '{}', 2, $3, 1000)`, [
      account,
      id,
      new SecretBox([keyOf('a')]).seal('Hi', context),
    ]);
    expect(await processWith('b', 'a').sealed.rotate()).toMatchObject({ sealedAnew: 1, left: 0 });
    const [row] = await database.dataSource.query<[{ sealed_answer: string }]>(
      'SELECT sealed_answer FROM kept_answer',
    );
    expect(new SecretBox([keyOf('b')]).open(row.sealed_answer, context)).toBe('Hi');
  });

  it('says after sealing anew that a process with the former list has sealed since then', async () => {
    const old = processWith('a');
    await old.sealed.check();
    const both = processWith('b', 'a');
    await both.sealed.check();
    await both.sealed.rotate();
    await newTask(old);
    await expect(processWith('b').sealed.check()).rejects.toThrow(/3 secrets are sealed/);
  });

  it('reseals hundreds, and forgets only what no key opens', async () => {
    const [lost, old] = [processWith('x'), processWith('a')];
    const gone = await newTask(lost);
    const ids = await Promise.all(Array.from({ length: 600 }, () => newTask(old)));
    const both = processWith('b', 'a');
    expect(await both.sealed.rotate()).toEqual({ sealedAnew: 1_800, left: 3, unreadable: 3 });
    // No start has read what is sealed so far, so this one does.
    await expect(both.sealed.check()).rejects.toThrow(/3 secrets/);
    expect(await both.sealed.forget()).toBe(3);
    await both.sealed.check();
    for (const id of ids.slice(0, 3)) expect(await readOf(both, id)).toEqual(WHOLE);
    await expect(readOf(lost, gone)).rejects.toMatchObject({ fault: 'malformed' });
  });

  it('reseals stored conversations too', async () => {
    const { content: before } = processWith('a');
    const [account, id] = [randomUUID(), randomUUID()];
    await database.dataSource.query(
      `INSERT INTO stored_item (account_id, id, lists, listed_until, bytes, sealed_item)
       VALUES ($1, $2, 1, now(), 9, $3)`,
      [account, id, before.seal('item', { text: 'hello' }, id)],
    );
    const both = processWith('b', 'a');
    expect(await both.sealed.rotate()).toEqual({ sealedAnew: 1, left: 0, unreadable: 0 });
    const [row] = await database.dataSource.query<{ sealed: string }[]>(
      'SELECT sealed_item AS sealed FROM stored_item',
    );
    expect(processWith('b').content.open('item', row?.sealed ?? '', id)).toEqual({ text: 'hello' });
  });
});
