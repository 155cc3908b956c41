import { ApiProperty } from '@nestjs/swagger';
import { CATALOG_EPOCH_SECONDS } from './model.view.js';

/** One model of the list, as clients of Messages read it. */
export class MessagesModelView {
  @ApiProperty({ enum: ['model'], description: 'Says what kind of object this is' })
  type!: 'model';

  @ApiProperty({ example: 'gen-5-mini', description: 'The name that requests send as `model`' })
  id!: string;

  @ApiProperty({ example: 'gen-5-mini', description: 'The same as `id`' })
  display_name!: string;

  @ApiProperty({ example: '2026-11-20T00:00:00Z', description: 'Date of the catalog' })
  created_at!: string;
}

/** The list of models for clients of Messages; it is one page. */
export class MessagesModelListView {
  @ApiProperty({ type: [MessagesModelView], description: 'The text models that the key may use' })
  data!: MessagesModelView[];

  @ApiProperty({ enum: [false], description: 'Always false: there is one page' })
  has_more!: false;

  @ApiProperty({ type: String, nullable: true, description: 'Id of the first model' })
  first_id!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Id of the last model' })
  last_id!: string | null;
}

/** The models with these names, in the form of Messages. */
export function viewMessagesModels(names: readonly string[]): MessagesModelListView {
  const createdAt = new Date(CATALOG_EPOCH_SECONDS * 1_000).toISOString().replace('.000', '');
  return {
    data: names.map((id) => ({ type: 'model', id, display_name: id, created_at: createdAt })),
    has_more: false,
    first_id: names.at(0) ?? null,
    last_id: names.at(-1) ?? null,
  };
}
