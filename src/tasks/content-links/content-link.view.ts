import { ApiProperty } from '@nestjs/swagger';

/** A link to the file of a task that works without a key (interface). */
export class ContentLinkView {
  @ApiProperty({
    example:
      'https://gateway.example/v1/tasks/task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a/content?expires=1796522409&signature=5d1f…',
    description: 'Where the file is fetched without a key',
  })
  url!: string;

  @ApiProperty({ description: 'Epoch seconds; the link is good until then' })
  expires_at!: number;
}
