import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { ChargeBasis } from './charge-basis.js';
import { formatMicroUsd } from './micro-usd.js';
import { amountTextOf, LINE_UNITS, linesOf, type LineUnit, type PriceLine } from './price-lines.js';

/** One line of a charge. */
export class PriceLineView {
  @ApiProperty({
    enum: LINE_UNITS,
    example: 'cached_input',
    description:
      'What the line counts. The lines of a prompt exclude each other; reasoning is part of `output`',
  })
  unit!: LineUnit;

  @ApiProperty({ type: 'integer', example: 900, description: 'How many of them' })
  quantity!: number;

  @ApiProperty({ example: '125000', description: 'Micro-USD for `per` of them, as listed' })
  unit_price_microusd!: string;

  @ApiProperty({
    type: 'integer',
    enum: [1, 1_000_000],
    example: 1_000_000,
    description: 'How many units the price is for: a million tokens, else one',
  })
  per!: number;

  @ApiProperty({
    example: '112.5',
    description: 'Micro-USD, exact: decimal digits with at most 12 places. Only the sum is rounded',
  })
  amount_microusd!: string;
}

/** The property `lines` of a record. */
export const LINES: ApiPropertyOptions = {
  type: [PriceLineView],
  nullable: true,
  description:
    'What was due. The charge is their sum, rounded up once to whole micro-USD, at most what was held; null where nothing was counted',
};

/** The lines of a charge; null without a basis. */
export function viewLines(basis: ChargeBasis | null): PriceLineView[] | null {
  return basis && linesOf(basis).map(viewLine);
}

/** One line as clients see it. */
export function viewLine(line: PriceLine): PriceLineView {
  return {
    unit: line.unit,
    quantity: line.quantity,
    unit_price_microusd: formatMicroUsd(line.unitPriceMicroUsd),
    per: line.per,
    amount_microusd: amountTextOf(line),
  };
}
