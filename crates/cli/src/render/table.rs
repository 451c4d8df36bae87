//! Tables in columns, without frames.

use comfy_table::Table;
use comfy_table::presets;

use super::readable;

/// Lays rows out under a head. The last line ends with a newline.
pub(crate) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(head.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| readable(cell).into_owned()));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "AWS.EC2/VPC"], ["longer", "b"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(
            table(&["NAME", "TYPE"], &rows),
            "NAME    TYPE\na       AWS.EC2/VPC\nlonger  b\n"
        );
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        let row = vec!["\u{1b}[2J".to_owned()];
        assert_eq!(table(&["NAME"], &[row]), "NAME\n\\u{1b}[2J\n");
    }
}
