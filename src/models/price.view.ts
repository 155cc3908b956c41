import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { type PriceRule, WHOLE_PERMILLE } from '../catalog/price-rule.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';

const UNITS = ['request', 'image', 'code_point', 'second', 'token'] as const;
const FREE = '0';
/** Decimals of one micro-USD, and of one per million. */
const DECIMALS_OF_MICRO = 6;
const DECIMALS_PER_MILLION = 12;
/** Decimals of one thousandth. */
const DECIMALS_OF_FACTOR = 3;

/** The price of a model. Amounts are micro-USD in digits; only those of its unit are present. */
export class PriceView {
  @ApiProperty({ enum: UNITS, description: 'What is counted' })
  unit!: (typeof UNITS)[number];

  @ApiPropertyOptional({ example: '120', description: 'Micro-USD per unit' })
  amount_microusd?: string;

  @ApiPropertyOptional({ description: 'Micro-USD per request in Max mode' })
  max_mode_amount_microusd?: string;

  @ApiPropertyOptional({ description: 'Micro-USD per million prompt tokens' })
  input_per_million?: string;

  @ApiPropertyOptional({ description: 'Micro-USD per million completion tokens' })
  output_per_million?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Micro-USD per request, by its `seconds`',
  })
  by_seconds?: Record<string, string>;

  @ApiPropertyOptional({
    type: 'integer',
    example: 900,
    description:
      'Thousandths of an amount that the account of the key pays, by its price book. The other fields are the listed prices: quantity times price times this / 1000 is rounded up to whole micro-USD. Absent where the prices are paid as they stand',
  })
  factor_permille?: number;
}

/** What model pickers read: USD in decimal digits. `price` is exact for every unit. */
export class PricingView {
  @ApiProperty({
    example: '0.00000025',
    description: 'USD per prompt token; 0 unless sold by token',
  })
  prompt!: string;

  @ApiProperty({
    example: '0.000002',
    description: 'USD per completion token; 0 unless sold by token',
  })
  completion!: string;

  @ApiPropertyOptional({ example: '0.01', description: 'USD per request, where it has one price' })
  request?: string;
}

/** The price of a row. The unit of an image price is one image. */
export function viewPrice(rule: PriceRule, isImage: boolean): PriceView {
  const { factorPermille } = rule;
  const listed = viewListed(rule, isImage);
  return factorPermille === undefined
    ? listed
    : { ...listed, factor_permille: Number(factorPermille) };
}

function viewListed(rule: PriceRule, isImage: boolean): PriceView {
  switch (rule.unit) {
    case 'token':
      return {
        unit: 'token',
        input_per_million: formatMicroUsd(rule.inputMicroUsdPerMillion),
        output_per_million: formatMicroUsd(rule.outputMicroUsdPerMillion),
      };
    case 'video': {
      const amounts = Object.entries(rule.microUsdBySeconds).map(([seconds, amount]) => [
        seconds,
        formatMicroUsd(amount),
      ]);
      return { unit: 'request', by_seconds: Object.fromEntries(amounts) as Record<string, string> };
    }
    case 'request': {
      const { microUsd, maxModeMicroUsd: maxMode } = rule;
      return {
        unit: isImage ? 'image' : 'request',
        amount_microusd: formatMicroUsd(microUsd),
        ...(maxMode !== undefined && { max_mode_amount_microusd: formatMicroUsd(maxMode) }),
      };
    }
    case 'code_point':
      return { unit: 'code_point', amount_microusd: formatMicroUsd(rule.microUsd) };
    case 'measured_second':
    case 'requested_second':
      return { unit: 'second', amount_microusd: formatMicroUsd(rule.microUsd) };
  }
}

/** The price in the words of model pickers, by the factor of the account. */
export function viewPricing(rule: PriceRule): PricingView {
  const usd = (amount: MicroUsd, places: number) => {
    const { factorPermille = WHOLE_PERMILLE } = rule;
    return decimals(amount * factorPermille, places + DECIMALS_OF_FACTOR);
  };
  if (rule.unit === 'token') {
    return {
      prompt: usd(rule.inputMicroUsdPerMillion, DECIMALS_PER_MILLION),
      completion: usd(rule.outputMicroUsdPerMillion, DECIMALS_PER_MILLION),
    };
  }
  const request = rule.unit === 'request' && usd(rule.microUsd, DECIMALS_OF_MICRO);
  return { prompt: FREE, completion: FREE, ...(request !== false && { request }) };
}

/** The amount divided by 10 to the power of `places`, exactly, without an exponent. */
function decimals(amount: MicroUsd, places: number): string {
  const digits = amount.toString().padStart(places + 1, '0');
  const whole = digits.slice(0, -places);
  let end = digits.length;
  while (end > whole.length && digits[end - 1] === '0') end -= 1;
  return end === whole.length ? whole : `${whole}.${digits.slice(whole.length, end)}`;
}
