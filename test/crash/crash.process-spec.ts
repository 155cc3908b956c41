import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { crashRun } from './crash-run.js';

const TIMEOUT_MS = 300_000;

describe('gateway processes killed under load', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it(
    'and cut off from the database lose no acknowledged outcome, charge nothing twice, leave no hold open, and take what plain integers say from each kind of money',
    async () => {
      const { url, dataSource } = database;
      const buys = { runs: true, fitted: true, books: true, priced: true };
      const plan = { rounds: 2, processes: 3, outageEvery: 2, buys };
      const result = await crashRun({ url, dataSource, ...plan });
      expect(result).toMatchObject({
        kills: 6,
        outages: 1,
        lost: 0,
        doubled: 0,
        audit: 'exact',
        audits: 7,
        faults: [],
        holdsLeftOpen: 0,
      });
      expect(result.acknowledged.settled).toBeGreaterThan(0);
      expect(result.priced?.charges).toBeGreaterThan(0);
      expect(result.priced?.expiries).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});
