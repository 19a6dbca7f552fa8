/** Starts services with what tests of the lifecycle need: clients and members. */
import type { AnyService } from '#libs/service';
import { type ApprovalClient, approvalClient } from './approvals.ts';
import { type LifecycleClient, lifecycleClient } from './lifecycle.ts';
import { type TestContext, type TestMember, testContext } from './test-context.ts';

/** The members of a test file. They are created once, because this takes the most time of all setup. */
interface TestMembers {
  /** The admin of an organization. */
  ada: TestMember;
  /** Members of that organization: the owner of documents, the assigned editor, and an uninvolved member. */
  owner: TestMember;
  editor: TestMember;
  bystander: TestMember;
  /** The admin of another organization. */
  stranger: TestMember;
}

/** A test context with its clients and members. */
export interface LifecycleFixture extends TestMembers {
  context: TestContext;
  lifecycle: LifecycleClient;
  approval: ApprovalClient;
}

/** Starts the services and creates the members. */
export async function lifecycleFixture(
  services: readonly AnyService[],
  environment: Record<string, string> = {},
): Promise<LifecycleFixture> {
  const context = await testContext(services, environment);
  const [lifecycle, approval] = [lifecycleClient(context), approvalClient(context)];
  return { context, lifecycle, approval, ...(await createMembers(context)) };
}

async function createMembers(context: TestContext): Promise<TestMembers> {
  const [ada, stranger] = await Promise.all([context.admin(), context.admin()]);
  const [owner, editor, bystander] = await Promise.all([
    context.member(ada),
    context.member(ada),
    context.member(ada),
  ]);
  return { ada, owner, editor, bystander, stranger };
}
