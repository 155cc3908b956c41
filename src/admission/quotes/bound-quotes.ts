import { timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { Inject, Injectable } from '@nestjs/common';
import type { ModelRow } from '../../catalog/model-row.js';
import { canonicalDigest } from '../../common/canonical-digest.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { KeyedDigest } from '../../common/secrets/keyed-digest.js';
import { Clock } from '../../common/time/clock.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../platform/config/gateway-config.js';

/** The request header that names a quote. */
export const QUOTE_HEADER = 'x-gateway-quote';
/** How long a quote holds. */
const QUOTE_SECONDS = 15 * 60;
/** So that a digest made for another purpose is never valid for a quote. */
const PURPOSE = 'quote';
const FORM = /^quote_([\w-]{1,12000})\.([\w-]{43})$/;
/** More than the longest price that fits a token. */
const MAX_TERMS_BYTES = 65_536;
/** Begins a text that is a whole number of any size, which JSON does not have. */
const BIGINT_MARK = '\u0001';

/** A request that is quoted, or that names its quote. */
export interface QuotedRequest {
  readonly accountId: string;
  /** Path of the endpoint. */
  readonly endpoint: string;
  readonly body: unknown;
}

/** The part of a row that a quote fixes. */
type QuotedPrice = Pick<ModelRow, 'price' | 'priceBook'>;

/** What a quote says. */
interface Terms extends QuotedPrice {
  readonly accountId: string;
  readonly endpoint: string;
  /** SHA-256 of the canonical JSON of the body. */
  readonly body: string;
  readonly modelId: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/** The text of a quote, and its end. */
export interface IssuedQuote {
  readonly id: string;
  /** Epoch seconds. */
  readonly expiresAt: number;
}

/**
 * Quotes that callers send back. A quote is its own record: the unit prices and the factor at which it was made, and of
 * whose request, signed with the first `SECRET_KEY` and checked with all. So nothing is stored, and every process knows
 * the quotes of all others.
 */
@Injectable()
export class BoundQuotes {
  private readonly digest: KeyedDigest;

  constructor(
    @Inject(GATEWAY_CONFIG) { secretKeys = [] }: Pick<GatewayConfig, 'secretKeys'>,
    private readonly clock: Clock,
  ) {
    this.digest = new KeyedDigest(secretKeys, PURPOSE);
  }

  /** A quote that fixes the price of the row for this request. */
  async issue({ accountId, endpoint, body }: QuotedRequest, row: ModelRow): Promise<IssuedQuote> {
    const { id: modelId, price, priceBook } = row;
    const expiresAt = this.clock.nowSeconds() + QUOTE_SECONDS;
    const terms: Terms = {
      accountId,
      endpoint,
      body: await canonicalDigest(body),
      modelId,
      expiresAt,
      price,
      ...(priceBook && { priceBook }),
    };
    const text = deflateRawSync(JSON.stringify(terms, withBigints)).toString('base64url');
    const [signature] = this.digest.of(text);
    return { id: `quote_${text}.${signature?.toString('base64url') ?? ''}`, expiresAt };
  }

  /**
   * The row at the price that the quote fixes. Throws 400 `invalid_quote` for a quote that was altered, or is that of
   * another account, body, endpoint or model, and 409 `quote_expired`.
   */
  async priced<Row extends ModelRow>(row: Row, id: string, request: QuotedRequest): Promise<Row> {
    const terms = this.termsOf(id);
    const { price, priceBook, expiresAt } = terms;
    const isOfRequest =
      terms.accountId === request.accountId &&
      terms.endpoint === request.endpoint &&
      terms.modelId === row.id &&
      price.unit === row.price.unit &&
      terms.body === (await canonicalDigest(request.body));
    if (!isOfRequest)
      throw invalid('is of another request: account, endpoint and body must be the same');
    if (expiresAt <= this.clock.nowSeconds()) {
      const message = `The quote has expired: it holds for ${QUOTE_SECONDS / 60} minutes. POST /v1/quotes makes another.`;
      throw new GatewayError('quote_expired', message, { param: QUOTE_HEADER, shouldRetry: false });
    }
    const { priceBook: _, ...rest } = row;
    return { ...rest, price, ...(priceBook && { priceBook }) } as Row;
  }

  private termsOf(id: string): Terms {
    const [, text = '', signature = ''] = FORM.exec(id) ?? [];
    const sent = Buffer.from(signature, 'base64url');
    const isSigned =
      text !== '' &&
      this.digest
        .of(text)
        .some((digest) => digest.length === sent.length && timingSafeEqual(digest, sent));
    if (!isSigned) throw invalid('is not one that this gateway has made');
    const json = inflateRawSync(Buffer.from(text, 'base64url'), {
      maxOutputLength: MAX_TERMS_BYTES,
    });
    return JSON.parse(json.toString(), bigintsOf) as Terms;
  }
}

function withBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? BIGINT_MARK + value.toString() : value;
}

function bigintsOf(_name: string, value: unknown): unknown {
  return typeof value === 'string' && value.startsWith(BIGINT_MARK)
    ? BigInt(value.slice(BIGINT_MARK.length))
    : value;
}

function invalid(says: string): GatewayError {
  return new GatewayError('invalid_quote', `The quote ${says}.`, {
    param: QUOTE_HEADER,
    shouldRetry: false,
  });
}
