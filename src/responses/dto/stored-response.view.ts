import { ApiProperty } from '@nestjs/swagger';
import { anyListedItem } from './response-items.schema.js';

const idOrNull = (description: string) => ({ type: String, nullable: true, description });

/** The answer to a deletion. */
export class DeletedResponseView {
  @ApiProperty({ description: 'Id of the response' })
  id!: string;

  @ApiProperty({ enum: ['response.deleted'], description: 'Says what happened' })
  object!: 'response.deleted';

  @ApiProperty({ description: 'Always true' })
  deleted!: boolean;
}

/** A page of the items of a conversation. */
export class InputItemsView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ type: 'array', items: anyListedItem(), description: 'The items' })
  data!: unknown[];

  @ApiProperty(idOrNull('Id of the first item of the page'))
  first_id!: string | null;

  @ApiProperty(idOrNull('Id of the last item of the page'))
  last_id!: string | null;

  @ApiProperty({ description: 'Whether more items follow' })
  has_more!: boolean;
}

/** The count of the tokens of a request. */
export class InputTokensView {
  @ApiProperty({ enum: ['response.input_tokens'], description: 'Says what was counted' })
  object!: 'response.input_tokens';

  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the whole conversation, counted here; the provider may count otherwise',
  })
  input_tokens!: number;
}
