import { OrderButton } from "./button";
import { OrderForm } from "./form";

// Rendered on the server, which may import the package too.
export default function Page() {
  return (
    <main>
      <h1>Shop</h1>
      <OrderForm />
      <OrderButton item="Mug" />
    </main>
  );
}
