//! Writes the gates that have changed, in the transaction of those who passed them: no limit is exceeded by a crash. Their
//! `running` is not written; it is in the leases.

use mainspring_core::store::Result;

use super::super::batch::Batch;
use super::super::rows::GateRow;
use super::super::tables;

pub fn write(batch: &mut Batch<'_>) -> Result<()> {
    for key in std::mem::take(&mut batch.mirror.gates.touched) {
        let gates = &mut batch.mirror.gates;
        let Some(gate) = gates.live.get_mut(&key) else { continue };
        gate.is_touched = false;
        let row = GateRow::of(&gate.state);
        let name = gate.name.clone();
        gates.drop_if_nothing(key);
        // Only a gate with a name can have had anything but `running`.
        let Some(name) = name else { continue };
        match row {
            Some(row) => batch.put(batch.tables.gates, &tables::gate(&name), &row)?,
            None => drop(batch.delete(batch.tables.gates, &tables::gate(&name))?),
        }
    }
    if batch.mirror.gates.may_rest {
        batch.mirror.gates.rest_if_nothing();
    }
    Ok(())
}
