import { factorOf } from '../catalog/price-factor.js';
import type { ModelRow } from '../catalog/model-row.js';
import { invalidField } from '../common/errors/gateway-error.js';
import type { ChargeBasis, Quote } from '../common/money/charge-basis.js';
import { linesOf, type PriceLine, sumOf } from '../common/money/price-lines.js';
import { type EmbeddingsCommand, MAX_DIMENSIONS } from '../providers/ports/embedding.port.js';
import type { Charge } from '../billing/calls/charge.js';
import type { EmbeddingsBody } from './dto/embeddings.body.js';
import { inputsOf, MAX_INPUTS, mostTokensTogether } from './embedding-inputs.js';

type Row = ModelRow<'embeddings'>;

/** Tokens, and whether they could not be counted and are at most so many. */
export interface CountedTokens {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

/** A checked request: what the provider gets, and what to hold for it. */
export interface EmbeddingsOrder {
  readonly command: EmbeddingsCommand;
  readonly hold: Quote;
  /** Of what is held: its upper bound of tokens. */
  readonly basis: ChargeBasis;
  readonly lines: readonly PriceLine[];
}

/**
 * What is sent and held for a body. A text counts as a token for each of its bytes, so that no charge is above its hold. Throws
 * 400 for what the limits of the model exclude; its tokens are checked apart.
 */
export function orderOf(row: Row, body: EmbeddingsBody): EmbeddingsOrder {
  const { dimensions, user } = body;
  const { limits } = row;
  const inputs = inputsOf(body.input);
  const maxInputs = limits.maxInputs ?? MAX_INPUTS;
  if (inputs.length > maxInputs)
    throw invalidField('input', `must have at most ${maxInputs} inputs`);
  checkDimensions(row, dimensions);
  const [min, max] = limits.dimensions ?? [1, MAX_DIMENSIONS];
  const length = dimensions === undefined ? { min, max } : { min: dimensions, max: dimensions };
  const tokens = mostTokensTogether(inputs);
  const basis = basisOf(row, { tokens, isEstimated: false });
  const lines = linesOf(basis);
  return {
    command: { inputs, dimensions, length, user },
    hold: { amountMicroUsd: sumOf(lines, factorOf(row.price)), basis: null },
    basis,
    lines,
  };
}

/** The charge of so many tokens, rounded up once, at most what is held. */
export function embeddingsCharge(row: Row, counted: CountedTokens, heldMicroUsd: bigint): Charge {
  const basis = basisOf(row, counted);
  const due = sumOf(linesOf(basis), factorOf(row.price));
  const isCapped = due > heldMicroUsd;
  return { chargedMicroUsd: isCapped ? heldMicroUsd : due, isCapped, basis };
}

function basisOf({ price }: Row, { tokens, isEstimated }: CountedTokens): ChargeBasis {
  return {
    unit: 'token',
    quantity: {
      promptTokens: tokens,
      cachedTokens: null,
      completionTokens: 0,
      reasoningTokens: null,
      ...(isEstimated && { isEstimated }),
    },
    unitPrice: { inputPerMillion: price.inputMicroUsdPerMillion.toString(), outputPerMillion: '0' },
    isEstimated,
  };
}

function checkDimensions({ limits }: Row, dimensions: number | undefined): void {
  if (dimensions === undefined) return;
  if (!limits.dimensions) throw invalidField('dimensions', 'cannot be chosen for this model');
  const [min, max] = limits.dimensions;
  if (dimensions >= min && dimensions <= max) return;
  throw invalidField('dimensions', `must be from ${min} to ${max} for this model`);
}
