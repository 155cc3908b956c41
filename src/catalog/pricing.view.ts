import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { decimalText } from '../common/money/price-lines.js';
import { usualPriceOfImage } from './image-choices.js';
import { factorOf } from './price-factor.js';
import type { PricedRow } from './price.view.js';

const FREE = '0';
/** Decimals of one micro-USD, and of one per million. */
const DECIMALS_OF_MICRO = 6;
const DECIMALS_PER_MILLION = 12;
/** Decimals of one thousandth. */
const DECIMALS_OF_FACTOR = 3;

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

  @ApiPropertyOptional({
    example: '0.000000025',
    description: 'USD per cached prompt token, where it has a price of its own',
  })
  input_cache_read?: string;

  @ApiPropertyOptional({
    example: '0.0000003125',
    description: 'USD per prompt token written to the cache, where it has a price of its own',
  })
  input_cache_write?: string;
}

/** The price in the words of model pickers, by the factor of the account. */
export function viewPricing(row: PricedRow): PricingView {
  const { operation, price } = row;
  const usd = (amount: MicroUsd, places: number) =>
    decimalText(amount * factorOf(price), places + DECIMALS_OF_FACTOR);
  if (price.unit === 'token') {
    const { cachedInputMicroUsdPerMillion: read, cacheWriteMicroUsdPerMillion: write } = price;
    return {
      prompt: usd(price.inputMicroUsdPerMillion, DECIMALS_PER_MILLION),
      completion: usd(price.outputMicroUsdPerMillion, DECIMALS_PER_MILLION),
      ...(read !== undefined && { input_cache_read: usd(read, DECIMALS_PER_MILLION) }),
      ...(write !== undefined && { input_cache_write: usd(write, DECIMALS_PER_MILLION) }),
    };
  }
  if (price.unit !== 'request') return { prompt: FREE, completion: FREE };
  const isImage = operation === 'image';
  const amount = isImage ? usualPriceOfImage(price, row) : price.microUsd;
  return { prompt: FREE, completion: FREE, request: usd(amount, DECIMALS_OF_MICRO) };
}
