import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { TestAccount, TestGateway } from './gateway.js';
import { type Answer, postJson, send } from './http-answer.js';

export const EDITS_PATH = '/v1/images/edits';
const GENERATIONS_PATH = '/v1/images/generations';
/** A model of the sandbox that edits images, and the price of one of its first quality. */
export const EDIT_MODEL = 'gen-image-edit-demo';
export const LOW_PRICE = 10_000n;
const CREDIT = 10_000_000n;
/** A whole picture of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

/** A text or a file of a form. */
export type FormPart = readonly [name: string, value: string | Buffer<ArrayBuffer>];

export const EDIT_TEXTS: readonly FormPart[] = [
  ['model', EDIT_MODEL],
  ['prompt', 'A lighthouse'],
];
export const ONE_IMAGE: readonly FormPart[] = [...EDIT_TEXTS, ['image', PNG]];

/** Buys images on one account. */
export class ImageDesk {
  private constructor(
    readonly gateway: TestGateway,
    readonly account: TestAccount,
  ) {}

  static async open(gateway: TestGateway): Promise<ImageDesk> {
    return new ImageDesk(gateway, await gateway.account(CREDIT));
  }

  /** POST /v1/images/edits with a form. */
  post(
    parts: readonly FormPart[],
    { headers }: { readonly headers: Record<string, string> } = this.account,
  ): Promise<Answer> {
    const form = new FormData();
    for (const [name, value] of parts) {
      if (typeof value === 'string') form.append(name, value);
      else form.append(name, new Blob([value]), 'a.png');
    }
    return send(this.gateway.url + EDITS_PATH, { method: 'POST', headers, body: form });
  }

  /** POST /v1/images/generations. */
  draw(fields: object): Promise<Answer> {
    const body = { model: EDIT_MODEL, prompt: 'A lighthouse', ...fields };
    return postJson(this.gateway.url + GENERATIONS_PATH, this.account.headers, body);
  }

  buyEdit(parts: readonly FormPart[]) {
    return this.bought(EDITS_PATH, () => this.post(parts));
  }

  buyImages(fields: object) {
    return this.bought(GENERATIONS_PATH, () => this.draw(fields));
  }

  /** The files of forms on disk. */
  uploads(): string[] {
    return readdirSync(join(this.gateway.config.dataDir, 'uploads', String(process.pid)));
  }

  /** What is held for the account. */
  async held(): Promise<bigint> {
    return (await this.gateway.balance(this.account.accountId)).held;
  }

  /** A call, what it cost, and its record. Proves that nothing is left held. */
  private async bought(endpoint: string, sent: () => Promise<Answer>) {
    const { accountId, headers } = this.account;
    const before = (await this.gateway.balance(accountId)).available;
    const answer = await sent();
    const { available, held } = await this.gateway.balance(accountId);
    expect(held).toBe(0n);
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    const execution = (await send(`${this.gateway.url}/v1/executions/${id}`, { headers })).json;
    expect(execution).toMatchObject({ endpoint });
    return { answer, charged: before - available, execution };
  }
}

/** The images of an answer. */
export function imagesIn({ status, json, bytes }: Answer): Buffer[] {
  expect(status === 200 ? '' : bytes.toString()).toBe('');
  const { data } = json as { data: readonly { b64_json: string }[] };
  return data.map(({ b64_json: base64 }) => Buffer.from(base64, 'base64'));
}

/** The line of one image in a record. */
export const imageLine = (price: bigint) => ({
  unit: 'image',
  quantity: 1,
  unit_price_microusd: `${price}`,
  per: 1,
  amount_microusd: `${price}`,
});

/** That picture on disk. */
export function pictureFile(): string {
  const path = join(mkdtempSync(join(tmpdir(), 'shim-picture-')), 'picture.png');
  writeFileSync(path, PNG);
  return path;
}
