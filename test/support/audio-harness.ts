import { expect } from '@jest/globals';
import { type SeenRequest, StubUpstream } from './stub-upstream.js';
import { type AudioOperation, call, postForm, TEN_SECONDS } from './audio-operations.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson } from './http-answer.js';
import { expectRefused, type Refusal } from './refusal.js';
import { startStubProvider } from './stub-provider.js';
import { servedBy } from './stub-speech.js';

/** A gateway with a provider that answers at once, and a host from which recordings are downloaded. */
export class AudioHarness {
  /** It has enough money, and is new after each `clear`. */
  account!: TestAccount;
  private readonly usualReply: StubUpstream['reply'];

  private constructor(
    readonly gateway: TestGateway,
    readonly provider: StubUpstream,
    readonly host: StubUpstream,
  ) {
    this.usualReply = provider.reply;
  }

  static async open(settings: NodeJS.ProcessEnv = {}): Promise<AudioHarness> {
    const provider = await startStubProvider();
    const host = await StubUpstream.start();
    const gateway = await startTestGateway({
      ...servedBy(provider),
      EGRESS_ALLOW: `127.0.0.1:${new URL(host.url).port}`,
      ...settings,
    });
    const harness = new AudioHarness(gateway, provider, host);
    await harness.clear();
    return harness;
  }

  /**
   * Sets up a new account, a provider without requests that answers as usual, and ten seconds of a tone on the host.
   */
  async clear(): Promise<void> {
    this.account = await this.gateway.account();
    this.provider.seen.length = 0;
    this.provider.reply = this.usualReply;
    this.serve(TEN_SECONDS);
  }

  async close(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.provider.stop(), this.host.stop()]);
  }

  /** From now on every URL of the host returns this file. */
  serve(file: Buffer): void {
    this.host.reply = (response) => response.end(file);
  }

  url(operation: AudioOperation): string {
    return `${this.gateway.url}${operation.path}`;
  }

  /** The smallest request with these fields, sent as in `call`. */
  call(operation: AudioOperation, fields: object = {}, recording?: Buffer): Promise<Answer> {
    return call(operation, this.gateway.url, this.account.headers, fields, recording);
  }

  /** As JSON; the recording by URL if the operation takes one. */
  postJson(operation: AudioOperation, fields: object = {}): Promise<Answer> {
    return postJson(this.url(operation), this.account.headers, {
      ...operation.body,
      ...(operation.takesRecording && { audio_url: `${this.host.url}/a.wav` }),
      ...fields,
    });
  }

  postForm(operation: AudioOperation, form: FormData): Promise<Answer> {
    return postForm(this.url(operation), this.account.headers, form);
  }

  /** Proves the refusal: no provider call, no money moved. */
  async refused(
    send: () => Promise<Answer>,
    status: number,
    code: string,
    param?: string,
  ): Promise<void> {
    const refusal: Refusal = { status, code, ...(param !== undefined && { param }) };
    const callsBefore = this.provider.seen.length;
    await expectRefused(this.gateway, this.account.accountId, send, refusal);
    expect(this.provider.seen.length).toBe(callsBefore);
  }

  /** Proves that a field of a JSON body is refused, and that the error names it. */
  async refusesField(operation: AudioOperation, field: string, value: unknown, param = field) {
    const send = () => this.postJson(operation, { [field]: value });
    await this.refused(send, 400, 'invalid_request', param);
  }

  /** Proves that the request succeeds; returns the charge in micro-USD and what the provider got. */
  async charges(
    operation: AudioOperation,
    send: () => Promise<Answer>,
  ): Promise<{ charged: bigint; answer: Answer; seen: SeenRequest }> {
    const { accountId } = this.account;
    const before = await this.gateway.balance(accountId);
    this.provider.seen.length = 0;
    const answer = await send();
    expect(answer.status === 200 ? '' : `${operation.path} ${answer.bytes.toString()}`).toBe('');
    const after = await this.gateway.balance(accountId);
    const charged = before.available - after.available;
    expect(after).toMatchObject({ held: 0n, entries: Math.min(before.entries + 1, 100) });
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(charged.toString());
    return { charged, answer, seen: this.provider.only };
  }
}
