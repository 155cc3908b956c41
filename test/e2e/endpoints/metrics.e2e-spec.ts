import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';

const METRICS_TOKEN = 'a-metrics-token-0123456789';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

let open: TestGateway;
let guarded: TestGateway;
let abroad: TestGateway;
let closed: TestGateway;

beforeAll(async () => {
  open = await startTestGateway();
  guarded = await startTestGateway({ HOST: '0.0.0.0', METRICS_TOKEN });
  abroad = await startTestGateway({ HOST: '0.0.0.0' });
  closed = await startTestGateway({ METRICS_TOKEN });
});
afterAll(async () => {
  for (const gateway of [open, guarded, abroad, closed]) await gateway.stop();
});

const metrics = (gateway: TestGateway, init?: RequestInit) =>
  send(`http://127.0.0.1:${new URL(gateway.url).port}/metrics`, init);

describe('/metrics', () => {
  it('answers without a token only on a loopback address', async () => {
    expect((await metrics(open)).status).toBe(200);
    const answer = await metrics(abroad, bearer(METRICS_TOKEN));
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('not_found');
  });

  it('answers 401 to everybody without the token where there is one', async () => {
    expect((await metrics(guarded, bearer(METRICS_TOKEN))).status).toBe(200);
    for (const init of [undefined, bearer('wrong'), bearer(`${METRICS_TOKEN}x`)]) {
      const answer = await metrics(guarded, init);
      expect(answer.status).toBe(401);
      expect(errorOf(answer).code).toBe('invalid_token');
    }
  });

  it('answers 429 with Retry-After to an address that has guessed ten times', async () => {
    const guess = () => metrics(closed, bearer('wrong'));
    for (let visits = 0; visits < 20; visits++) expect((await metrics(closed)).status).toBe(401);
    for (let guesses = 0; guesses < 10; guesses++) expect((await guess()).status).toBe(401);
    const answer = await guess();
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect((await metrics(closed, bearer(METRICS_TOKEN))).status).toBe(429);
  });

  it('sends no more queries for many scrapes, consecutive or concurrent', async () => {
    const dataSource = open.app.get(DataSource);
    const query = dataSource.query.bind(dataSource);
    let counts = 0;
    dataSource.query = (sql: string, values?: unknown[]) => {
      if (sql.includes('count(*)')) counts += 1;
      return query(sql, values);
    };
    for (let scrape = 0; scrape < 20; scrape++) await metrics(open);
    await Promise.all(Array.from({ length: 20 }, () => metrics(open)));
    // Without the pace there would be two for each scrape.
    expect(counts).toBeLessThan(20);
  });

  it('answers many scrapes at once with one collection', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => metrics(open)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});
