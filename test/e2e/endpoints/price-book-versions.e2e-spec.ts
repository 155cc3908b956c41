import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { errorOf } from '../../support/http-answer.js';

let admin: AdminHarness;

beforeAll(async () => {
  admin = await AdminHarness.start();
});
afterAll(() => admin.stop());

describe('versions of a price book', () => {
  it('are replaced by one of two operators who have read the same version, and by the other after a look', async () => {
    const id = `book-${randomUUID()}`;
    await admin.post('/price-books', { id, factor_permille: 900 });
    const put = (body: object) => admin.ask('PUT', `/price-books/${id}`, body);
    const later = 4_000_000_000;
    const both = await Promise.all(
      [800, 700].map((factor) =>
        put({ factor_permille: factor, valid_from: later, replaces_version: 1 }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const refused = both.find(({ status }) => status === 409);
    expect(refused && errorOf(refused)).toMatchObject({
      code: 'conflict',
      param: 'replaces_version',
    });
    const read = (await admin.get(`/price-books/${id}`)).json;
    // The one that was written is planned: what is in force is still the first.
    expect(read).toMatchObject({ version: 1, newest_version: 2, planned: [{ version: 2 }] });
    const again = await put({ factor_permille: 600, replaces_version: 2 });
    expect(again.json).toMatchObject({ version: 3, newest_version: 3, factor_permille: 600 });
    expect((await put({ factor_permille: 500 })).json).toMatchObject({ newest_version: 4 });
    const fresh = admin.post('/price-books', { id: 'fresh', replaces_version: 1 });
    await expectError(fresh, 400, 'invalid_request', 'replaces_version');
    await expectError(put({ replaces_version: '4' }), 400, 'invalid_request', 'replaces_version');
  });
});
