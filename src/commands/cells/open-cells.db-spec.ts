import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { loadOperatorConfig } from '../../platform/config/load-config.js';
import { withCells } from './open-cells.js';

let one: TestDatabase;
let other: TestDatabase;
beforeAll(async () => {
  one = await createTestDatabase();
  other = await createTestDatabase();
});
afterAll(async () => {
  await one.drop();
  await other.drop();
});

const namesOf = (...urls: string[]): Promise<string[]> =>
  withCells(urls.join(','), loadOperatorConfig({}), (cells) =>
    Promise.resolve(cells.map(({ name }) => name)),
  );

/** The same database by another name: that of the folder of its socket, or of its host. */
function renamed(url: string): string {
  const again = new URL(url);
  const folder = again.searchParams.get('host');
  if (folder !== null) again.searchParams.set('host', `${folder}/.`);
  else again.hostname = again.hostname === 'localhost' ? '127.0.0.1' : 'localhost';
  return again.href;
}

describe('the cells that one command asks', () => {
  it('are the databases of one server or of several', async () => {
    expect(await namesOf(one.url, other.url)).toHaveLength(2);
    expect(await namesOf(one.url, renamed(other.url))).toHaveLength(2);
  });

  it('are refused where two of the names are of one database', async () => {
    await expect(namesOf(one.url, other.url, renamed(one.url))).rejects.toThrow(
      /--cells names one database twice: \S+, \S+\./,
    );
  });
});
